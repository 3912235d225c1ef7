// expect: unsafe unreach-call
// What is in the middle of an atomic sequence matters, though it is not done:
// what the other side of a rendezvous does next.
// options: --property unreach-call --check-movers
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x; chan r = [0] of { byte };
active proctype P() { r!1 }
active proctype Q() { byte l; atomic { r?l; x = 1 } }
active proctype R() { byte l; l = x; assert(l == x) }
