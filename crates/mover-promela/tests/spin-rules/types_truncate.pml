bit b; bool o; byte y; short s; int i; unsigned u : 3; mtype m; pid p;
bit bits[2];
active proctype w() { b = 2; o = 3; y = 257; s = 40000; i = 2147483647; i = i + 1; u = 9; m = 258; p = -1; bits[1] = 2;
  assert(b == 0 && o == 1 && y == 1 && s == -25536 && i < 0 && u == 1 && m == 2 && p == 255 && bits[1] == 2) }
