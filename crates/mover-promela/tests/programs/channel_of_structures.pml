typedef M { byte a; byte b[2]; bit c };
chan q = [2] of { M, byte };
byte x;
active proctype s() { M m; m.a = 1; m.b[1] = 4; m.c = 1; q!m,7; m.a = 2; q!m,8 }
active proctype r() { M m; q?m,x; x = m.b[1]; q?2,_,_,_,x }
