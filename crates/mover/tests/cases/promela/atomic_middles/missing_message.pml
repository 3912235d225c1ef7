// expect: unsafe unreach-call
// What is in the middle of an atomic sequence matters, though it is not done:
// a message that is not there.
// options: --property unreach-call --check-movers
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x, y; chan c = [1] of { byte };
active proctype P() { y = 1; c!1 }
active proctype Q() { byte l; atomic { y == 1 -> x = 1; c?l; x = 0 } }
active proctype R() { assert(x == 0) }
