chan q = [4] of { byte, byte };
byte x, y;
active [2] proctype s() { q!!_pid + 1,3; q!!2,_pid }
active proctype r() { (len(q) == 4); do :: q?x,y :: empty(q) -> break od }
