/* An else that melts into an outer choice looks only at what stands before it. */
byte x;
active proctype p() {
  if
  :: x == 1 -> x = 10
  :: if :: x == 2 -> x = 11 :: else -> x = 12 fi
  :: x < 3 -> x = 13
  fi
}
active proctype q() { x = 1; x = 2; x = 3 }
