byte x;
active proctype p() { { if :: x == 1 -> x = 4 :: else -> x = 5 fi; x++ } unless { x == 2 -> x = 9 } }
active proctype q() { x = 1; x = 2 }
