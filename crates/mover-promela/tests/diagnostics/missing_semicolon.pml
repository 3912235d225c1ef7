byte x;
active proctype p() { x = 1 x = 2 }
