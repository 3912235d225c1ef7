/* plan: a spin lock that loops by blocking is a plain lock; data under it moves both ways */
bool m; byte x;
active [2] proctype P() {
  do
  :: atomic { m == 0 -> m = 1 }; x++; m = 0; break
  od
}
