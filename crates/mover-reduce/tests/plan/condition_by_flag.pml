/* plan: waiting for filled gives m back in between; filled and data are protected by m throughout */
bool m; bool filled; byte data;
active proctype Producer() {
  atomic { !m -> m = true };
  data = 3;
  filled = true;
  m = false
}
active proctype Consumer() {
  do
  :: atomic { !m -> m = true }; if :: filled -> break :: else -> m = false fi
  od;
  data = 0;
  m = false
}
