// expect: unsafe claims
// SPIN calls this an accept stutter: the run ends at the label.
// message: the accept label `accept_here` in line 6 is violated
// options: --property claims
byte x;
active proctype P() { x = 1; accept_here: x == 0 }
