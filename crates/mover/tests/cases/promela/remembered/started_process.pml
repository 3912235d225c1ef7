// expect: unsafe unreach-call
// Goes wrong only if a value is remembered. It is read by the process that is started.
// options: --property unreach-call
// engines: explicit/none explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs bmc,ic3/none,static,phase,dynamic
byte x;
proctype Child(byte given) { x = given; assert(given != 3) }
active proctype P() { byte mine; mine = 3; x = 1; run Child(mine) }
