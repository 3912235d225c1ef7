chan q[2] = [1] of { byte };
byte x;
active proctype s() { byte i; for (i : 0 .. 1) { q[i]!i + 5 } }
active proctype r() { q[1]?x; q[0]?x; q[x - 5]!1 }
