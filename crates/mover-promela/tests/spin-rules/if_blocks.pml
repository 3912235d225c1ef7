byte x;
active proctype p() { if :: x == 1 -> x = 2 :: x == 2 -> x = 3 fi }
active proctype q() { x = 1 }
