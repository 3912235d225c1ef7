/* plan: the test-and-set of a spin lock sees the lock taken from outside, so m is no lock */
bool m; byte x;
active [2] proctype P() {
  bool old;
  do
  :: atomic { old = m; m = true }; if :: old -> skip :: else -> break fi
  od;
  x++;
  m = false
}
