chan q = [1] of { byte };
byte x;
active proctype s() { xs q; q!1; q!2 }
active proctype r() { xr q; q?x; q?x }
