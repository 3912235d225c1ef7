byte x;
inline a() { x = 1; b() }
inline b() { a() }
active proctype p() { b() }
