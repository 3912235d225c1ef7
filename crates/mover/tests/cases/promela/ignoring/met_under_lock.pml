// expect: unsafe unreach-call
// T1 waits for a rendezvous in the middle of a transaction that has not committed.
// options: --property unreach-call
// engines: explicit/static,left,phase,dynamic/blocks,cpc,cpc-no-l19,cycle,lfs
chan r = [0] of { byte };
bool m;
active proctype T1() { byte x; atomic { !m -> m = true }; r?x; assert(x == 0); m = false }
active proctype T2() { r!1 }
active proctype T3() { atomic { !m -> m = true }; m = false }
