/* plan: `else` beside the taking sees that m is taken: no lock, and taking does not move */
bool m; byte x;
active [2] proctype P() {
  if
  :: atomic { !m -> m = true }; x++; m = false
  :: else -> skip
  fi
}
