byte x;
active proctype p() { L: atomic { x = 1; x = 2; x = 3 } unless { x == 2 -> x = 8 } ; x = 0 }
active proctype q() { x = 2 }
