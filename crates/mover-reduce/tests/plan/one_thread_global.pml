/* plan: a is touched by P alone: both mover; x by both: non-mover */
byte a; byte x;
active proctype P() { a = 1; a++; x = a }
active proctype Q() { byte l; l = x }
