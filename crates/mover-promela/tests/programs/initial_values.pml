byte g = 3;
byte h = g + 1;
proctype child(byte n) { byte a = 5; byte b = n + a; short c = g - 10; byte d[3] = {1, 2}; assert(b == n + 5 && d[2] == 2); g = b + c }
init { run child(2); g = h; run child(1) }
