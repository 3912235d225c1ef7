byte x;
active [2] proctype p() { atomic { x++; assert(x < 2); x = x + 3 } }
