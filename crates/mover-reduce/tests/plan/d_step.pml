/* plan: the d_step is one edge, both mover since a is P's alone */
byte a; byte x;
active proctype P() { d_step { a = 1; a = a + 1; a = 0 }; x = 1 }
active proctype Q() { x = 2 }
