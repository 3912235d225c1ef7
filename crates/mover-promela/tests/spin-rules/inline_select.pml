byte x;
inline choose(v) { select (v : 1 .. 3) }
active proctype p() { choose(x); x = x + 1 }
