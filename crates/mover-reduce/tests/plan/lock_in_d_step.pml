/* plan: a lock taken in a d_step is a lock; x moves both ways under m */
bool m; byte x;
active [2] proctype P() {
  d_step { m == 0; m = 1 };
  x++;
  m = 0
}
