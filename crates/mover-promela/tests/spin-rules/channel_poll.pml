chan q = [2] of { byte, byte };
byte x;
active proctype s() { q!3,1; q!4,2 }
active proctype r() { do :: q?[3,_] -> x = 1; q?_,_ :: q?[4,x] -> q?x,_; break :: empty(q) && x == 0 -> x = 0 od }
