chan q = [0] of { byte };
byte x;
active proctype p() { { x = 1; x = 2; x = 3 } unless { q?x } ; x = x + 10 }
active proctype s() { q!7 }
