// expect: unsafe unreach-call
// When T1 comes to its choice only the step that moves is possible. The other one becomes
// possible by what T2 does after it has seen that T1 has committed.
// options: --property unreach-call
// engines: explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs
byte x, y;
active proctype T1() { y = 1; if :: x == 1 -> assert(false) :: skip fi }
active proctype T2() { y == 1; x = 1 }
