/* plan: the atomic sequence is one edge that touches x and y, and does not move */
byte x; byte y;
active [2] proctype P() { atomic { x++; y = x; x = y + 1 } }
