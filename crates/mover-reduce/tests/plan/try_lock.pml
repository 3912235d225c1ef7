/* plan: `else` beside the taking sees that m is taken, so taking and releasing do not move; x is protected by m all the same */
bool m; byte x;
active [2] proctype P() {
  if
  :: atomic { !m -> m = true }; x++; m = false
  :: else -> skip
  fi
}
