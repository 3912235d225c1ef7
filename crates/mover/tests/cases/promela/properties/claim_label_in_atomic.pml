// expect: unknown
// A process passes the label without a state in which it is there.
// message: the accept label `accept_inside` in line 5 is not checked: the label `accept_inside` is within a step
byte x;
active proctype P() { do :: atomic { x = 1; accept_inside: x = 0 } od }
