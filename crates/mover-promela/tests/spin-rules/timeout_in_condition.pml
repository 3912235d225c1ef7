byte x;
active proctype p() { if :: x == 5 && timeout -> x = 1 :: timeout || x == 4 -> x = 2 fi }
active proctype q() { x = 4; x = 5 }
