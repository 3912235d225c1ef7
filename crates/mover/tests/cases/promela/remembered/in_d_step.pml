// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read in the middle of a deterministic sequence.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x;
active proctype P() { byte mine; mine = 3; x = 1; d_step { x = mine; mine = x + 1; x = mine }; assert(x != 4) }
active proctype Q() { byte own; own = x }
