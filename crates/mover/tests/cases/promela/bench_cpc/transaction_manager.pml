// expect: safe
// A program of `mover-bench cpc`: right as it is, and its seeded errors are found.
// options: --property unreach-call -DCLIENTS=1
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
// expect: unsafe unreach-call
// options: --property unreach-call -DCLIENTS=1 -DBUG=1
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
// expect: unsafe unreach-call
// options: --property unreach-call -DCLIENTS=1 -DBUG=2
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
// expect: unsafe unreach-call
// options: --property unreach-call -DCLIENTS=1 -DBUG=3
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
// expect: unsafe unreach-call
// options: --property unreach-call -DCOORDINATORS=2 -DBUG=4
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
#include "../../../../../../bench/cpc/transaction_manager.pml"
