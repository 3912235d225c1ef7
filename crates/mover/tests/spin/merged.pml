byte x; chan c = [0] of {byte};
active proctype A() { byte v; v = 1; v = v + 1; atomic { x = 1; x = 2 } ; d_step { v = 3; v = 4 }; c!v; if :: v == 4 -> x = 5 :: else fi }
active proctype B() { byte w; c?w; w++; assert(w == 4) }
