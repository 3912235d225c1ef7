byte x;
active proctype p() { d_step { x == 2; x = 3; x = 4 } }
active proctype q() { x = 1; x = 2; x == 4 }
