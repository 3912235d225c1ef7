byte x;
inline inc(v) { v++ }
inline twice(w) { inc(w); atomic { inc(w) inc(w) } }
active [2] proctype p() { twice(x); x = 0 }
