/* A scalar is a row of one. */
byte x = 2;
active [2] proctype P() { x[0] = x[0] + 1; assert(x < 4) }
