// expect: unsafe unreach-call
// What is in the middle of an atomic sequence matters, though it is not done:
// a choice that is not taken, after a step of its own.
// options: --property unreach-call --check-movers
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x, y;
active proctype P() {
    byte l;
    y = 1;
    atomic { l = 1; if :: x == 1 -> assert(false) :: l == 1 -> skip fi }
}
active proctype Q() { y == 1; x = 1 }
