byte x;
active [2] proctype p() { if :: else -> x = 9 :: x == 1 -> x = 2 :: x == 2 -> x = 1 fi }
active proctype q() { x = 1; x = 2 }
