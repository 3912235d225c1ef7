chan q = [2] of { bit, byte, short };
byte x; bit b; short s;
active proctype p() { q!3,300,70000; q?b,x,s; assert(b == 1 && x == 44 && s == 4464); q!2,-1,-1; q?b,x,s; assert(b == 0 && x == 255 && s == -1) }
