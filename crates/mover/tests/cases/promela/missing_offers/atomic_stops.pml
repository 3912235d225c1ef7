// expect: unsafe unreach-call
// A process sees that another one is not yet waiting for a rendezvous: by an atomic sequence that stops.
// The step by which the other one comes to its receive is no left mover then. Every reduction missed
// the failed assertion once.
// options: --property unreach-call --check-movers
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x, y; chan s = [0] of { byte };
active proctype P() { atomic { y == 1 -> x = 1; s!1 } }
active proctype Q() { byte l; y = 1; skip; if :: s?l :: x == 1 -> assert(false) fi }
