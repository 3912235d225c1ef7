byte x;
inline f(a) { a = 1; return a }
active proctype p() { f(x); return x }
