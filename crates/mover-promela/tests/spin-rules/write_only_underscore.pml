chan q = [1] of { byte, byte };
byte x;
active proctype p() { q!1,2; q?_,x; _ = x + 1 }
