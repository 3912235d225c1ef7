byte x;
active proctype p() { { x++; x++; x = x + 2 } unless { x == 1 -> x = 9 }; x = 0 }
active proctype q() { x = 1 }
