byte x;
inline f(a, b) { a = b }
active proctype p() { f(x); f(x, 1, 2); g(x); x = f(x, 1) }
