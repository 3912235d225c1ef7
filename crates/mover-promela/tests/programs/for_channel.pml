typedef M { byte v };
chan q = [3] of { M };
byte x;
active proctype p() { M m; m.v = 1; q!m; m.v = 2; q!m; for (m in q) { x = x * 4 + m.v } }
