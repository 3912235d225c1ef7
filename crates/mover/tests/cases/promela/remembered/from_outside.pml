// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read from outside.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte done;
active proctype Keeper() { byte mine; mine = 3; done = 1; done = 2 }
active proctype Reader() { done == 2; assert(Keeper:mine != 3) }
