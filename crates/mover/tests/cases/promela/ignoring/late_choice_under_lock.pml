// expect: unsafe unreach-call
// As late_choice.pml, but T1 still has a lock to release, which alone would not end its transaction.
// options: --property unreach-call
// engines: explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs
byte x, y; bool m;
active proctype T1() {
    atomic { !m -> m = true }; y = 1; if :: x == 1 -> assert(false) :: skip fi; m = false
}
active proctype T2() { y == 1; x = 1 }
active proctype T3() { atomic { !m -> m = true }; m = false }
