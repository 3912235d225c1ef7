/* A send of too few fields is an error when it is executed; the others are 0. */
chan c = [1] of { byte, byte };
active proctype P() { byte x; c!3; c?3,x; assert(x == 0) }
active proctype Q() { byte x; c?x,_ }
