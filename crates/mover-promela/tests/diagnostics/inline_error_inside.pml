byte x;
inline f(a) { a = a + unknown; a = }
active proctype p() { f(x) }
