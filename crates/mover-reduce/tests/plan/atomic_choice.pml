/* plan: x decides in the middle of the atomic sequence, so the way that reads it counts although it is not taken: no movers */
byte x; byte z;
active proctype P() { byte l; atomic { z == 0; if :: x == 1 -> l = 1 :: z == 0 -> skip fi } }
active proctype Q() { x = 1; x = 0 }
active proctype R() { z = 2 }
