chan q = [0] of { byte };
byte x;
active [2] proctype s() { q!_pid; x = x + 1 }
active [2] proctype r() { byte y; q?y; x = x + y }
