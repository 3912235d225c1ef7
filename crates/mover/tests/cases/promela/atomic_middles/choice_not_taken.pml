// expect: unsafe unreach-call
// What is in the middle of an atomic sequence matters, though it is not done:
// a choice that is not taken.
// options: --property unreach-call --check-movers
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x, z;
active proctype P() { atomic { z == 0; if :: x == 1 -> assert(false) :: z == 0 -> skip fi } }
active proctype Q() { x = 1; x = 0 }
active proctype R() { z = 2 }
