/* A declaration behind a statement is a step. */
byte x;
active proctype p() { x = 1; byte y; byte z = x + 1; byte a[3] = 7; x = y + z + a[0] + a[1] }
