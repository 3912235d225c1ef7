// expect: unknown
// A claim that has no value in some state is neither true nor false.
// message: in the claim, line 7
byte x;
byte a[2];
active proctype P() { x = 1; x = 2 }
ltl p { <> (a[x] == 1) }
