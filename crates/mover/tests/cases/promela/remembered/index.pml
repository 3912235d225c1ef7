// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read as an index.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x; byte row[4];
active proctype P() { byte mine; mine = 3; x = 1; row[mine] = 1; assert(row[3] != 1) }
active proctype Q() { x++ }
