// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read one cell of a row after another was written.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x;
active proctype P() { byte row[2]; row[0] = 3; x = 1; row[1] = 4; x = 2; assert(row[0] != 3) }
active proctype Q() { x++ }
