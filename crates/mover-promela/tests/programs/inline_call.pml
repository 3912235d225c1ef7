byte x;
inline add(target, n) { target = target + n; if :: target > 5 -> target = 0 :: else fi }
active [2] proctype p() { byte y; add(x, 3); add(y, x + 1); x = y }
