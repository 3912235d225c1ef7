// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read by a guard, the next time round.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x;
active proctype P() { byte n; do :: n < 2 -> n++; x = n :: n == 2 -> break od; assert(false) }
active proctype Q() { x++ }
