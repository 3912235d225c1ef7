// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read by one of two ways on.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x;
active proctype P() { byte mine; mine = 3; x = 1; if :: mine = 0 :: skip fi; x = 2; assert(mine != 3) }
active proctype Q() { x++ }
