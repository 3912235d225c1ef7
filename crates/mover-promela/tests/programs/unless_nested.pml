byte x;
active proctype p() { { { x = 1; x = 2; x = 3 } unless { x == 2 -> x = 10 } } unless { x == 2 -> x = 20 }; x = 30 }
active proctype q() { x = 2 }
