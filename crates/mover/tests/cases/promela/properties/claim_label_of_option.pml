// expect: unknown
// At the beginning of an option the label is that of the whole loop to SPIN.
// message: the label `accept_here` is within a step
// message: nor is one other claim
byte x;
active proctype P() { do :: accept_here: x = 1 od }
ltl p { [] !P[0]@accept_here }
