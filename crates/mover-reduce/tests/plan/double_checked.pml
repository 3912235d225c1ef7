/* plan: made is read without m, so it is not protected; value is accessed under m and behind made without it: not protected */
bool m; bool made; byte value;
active [2] proctype P() {
  byte l;
  if
  :: made -> skip
  :: else ->
    atomic { !m -> m = true };
    if :: made -> skip :: else -> value = 5; made = true fi;
    m = false
  fi;
  l = value
}
