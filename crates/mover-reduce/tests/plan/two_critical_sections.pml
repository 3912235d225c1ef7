/* plan: two critical sections are two transactions; the second begins where the first ends */
bool m; byte x;
active [2] proctype P() {
  atomic { !m -> m = true };
  x++;
  m = false;
  atomic { !m -> m = true };
  x--;
  m = false
}
