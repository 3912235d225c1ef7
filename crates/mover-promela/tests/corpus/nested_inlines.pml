byte x;
inline a(v) { v = v + 1 }
inline b(v) { a(v); a(v) }
inline c(v) { b(v); b(v) }
inline d(v) { c(v) c(v) }
active proctype p() { d(x) }
