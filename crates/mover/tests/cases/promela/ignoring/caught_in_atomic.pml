// expect: unsafe unreach-call
// T1 has committed, holds a lock, and what it does next never comes to an end.
// options: --property unreach-call
// engines: explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs
byte x; bool m;
active proctype T1() {
    atomic { !m -> m = true }; x = 1; atomic { do :: skip od }; m = false
}
active proctype T2() { x == 1; assert(false) }
active proctype T3() { atomic { !m -> m = true }; m = false }
