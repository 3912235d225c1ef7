byte x;
active proctype p() { if :: else -> x = 1 :: x == 1 :: else -> x = 2 fi }
