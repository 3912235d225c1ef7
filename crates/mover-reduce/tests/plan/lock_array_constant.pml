/* plan: each cell of m picked by a constant is a lock of its own */
bool m[2]; byte x; byte y;
active [2] proctype P() {
  atomic { m[0] == 0 -> m[0] = 1 };
  x++;
  atomic { m[1] == 0 -> m[1] = 1 };
  y++;
  m[1] = 0;
  m[0] = 0
}
