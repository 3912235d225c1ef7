byte x;
active proctype p() { atomic { x = 1; x == 2; x = 3 } }
active proctype q() { x == 1; atomic { x = 2; x == 3; x = 4 } }
