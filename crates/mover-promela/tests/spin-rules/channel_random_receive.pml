chan q = [3] of { byte };
byte x;
active proctype s() { q!3; q!1; q!2 }
active proctype r() { q??1; x = 1; q??2; q??[3]; q??eval(x + 2) }
