chan q = [0] of { byte };
byte x;
active proctype p() { byte y; d_step { q?y; x = y; y = 0 }; x = x + 1 }
active proctype s() { q!5; x = 9 }
