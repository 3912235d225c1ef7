chan q = [2] of { byte };
byte x;
active proctype p() { atomic { do :: q?x -> if :: x == 2 -> break :: else fi od }; x = 7 }
active proctype s() { q!1; q!1; q!2 }
