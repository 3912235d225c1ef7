chan q = [0] of { byte };
byte x;
active proctype p() { atomic { x = 5; q!1; x = 1; x = 2 } }
active proctype r() { byte y; q?y; x = x + 4; x = x + 8 }
active proctype z() { x = 9 }
