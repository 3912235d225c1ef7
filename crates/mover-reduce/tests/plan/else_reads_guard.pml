/* plan: the else edge reads x as the guard does: neither moves */
byte x; byte a;
active proctype P() { if :: x == 1 -> a = 1 :: else -> a = 2 fi }
active proctype Q() { x = 1 }
