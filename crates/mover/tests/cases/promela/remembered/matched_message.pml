// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read by what a message must be.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
chan c = [0] of { byte };
active proctype P() { byte mine; mine = 3; c ? eval(mine); assert(false) }
active proctype Q() { c ! 3 }
