/* plan: which lock is taken is computed in the same step as the name by which it is given back: taking moves right, x++ stays a non-mover, giving back moves left */
bool m[2]; byte x;
proctype P(int a) {
  int b;
  atomic { !m[1 - a] -> m[1 - a] = true; b = 1 - a; a = 0 };
  x++;
  m[b] = false
}
init { run P(0); run P(1); run P(1) }
