chan q = [1] of { byte, bit };
byte x;
active proctype p() { q!1; q!1,2,3; q?x; q?x,_,_ }
