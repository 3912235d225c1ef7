chan q = [2] of { byte };
byte x;
active proctype s() { q!3; q!4 }
active proctype r() { q?<x>; q?x; q??<4>; q?<x> }
