// expect: unsafe claims
// A claim that comes to its end has matched.
// message: the never claim `n` in line 9 is violated
byte x;
active proctype P() { x = 1; x = 2 }
/* The first state does not match, the others may. */
#define two (x == 2)

never n { do :: !two :: two -> break od }
