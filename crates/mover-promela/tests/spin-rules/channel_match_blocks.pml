chan q = [2] of { byte };
byte x;
active proctype s() { q!1; q!2 }
active proctype r() { q?2; x = 1 }
