// expect: safe
// Claims do not see the middle of an atomic sequence.
byte x;
active proctype P() { atomic { x = 1; x = 0 }; d_step { x = 1; x = 0 } }
ltl p { [] (x == 0) }
