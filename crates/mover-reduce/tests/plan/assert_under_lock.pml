/* plan: asserting on x under m moves both ways, also the edge to the error */
bool m; byte x;
active [2] proctype P() {
  atomic { !m -> m = true };
  x++;
  assert(x == 1);
  x--;
  m = false
}
