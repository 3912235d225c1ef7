chan q = [2] of { byte, bit };
byte x; bit y;
active proctype s() { q!1,0; q!2(1); q!3,1 }
active proctype r() { q?x,y; q?2,_; q?eval(x + 2),y }
