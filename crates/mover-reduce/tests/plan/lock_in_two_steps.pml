/* plan: test and set are two steps, so m is no lock and nothing moves */
bool m; byte x;
active [2] proctype P() {
  m == 0;
  m = 1;
  x++;
  m = 0
}
