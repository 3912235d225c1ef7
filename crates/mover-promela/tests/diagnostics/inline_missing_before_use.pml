byte x;
active proctype p() { f(x) }
inline f(a) { a = 1 }
