/* plan: taking m moves right, x++ moves both ways under m, giving m back moves left: one transaction */
bool m; byte x;
active [2] proctype P() {
  atomic { !m -> m = true };
  x++;
  x = x + 2;
  m = false
}
