byte x;
active proctype p() { { x = 1; x = 2; x = 3 } unless { { x == 2 -> x = 4; x = 5 } unless { x == 4 -> x = 6 }; x = 7 } }
active proctype q() { x = 2; x = 4 }
