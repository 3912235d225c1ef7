// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read a cell of a row that is picked at run time.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x;
active proctype P() { byte i; byte row[2]; row[1] = 3; x = 1; i = 1; row[i - 1] = 5; x = 2; assert(row[i] != 3) }
active proctype Q() { x++ }
