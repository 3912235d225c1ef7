/* Statements in a row: each is a step. */
byte x;
active proctype p() { x = 1; x = 2; x = x + 1 }
