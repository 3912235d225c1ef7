byte x;
active proctype p() { x = 1; end1: goto there; x = 3; there: x = 2; end2: x == 9 }
