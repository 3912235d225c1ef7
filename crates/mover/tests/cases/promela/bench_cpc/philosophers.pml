// expect: safe
// A program of `mover-bench cpc`: right as it is, and its seeded errors are found.
// options: --property unreach-call -DN=4
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
#include "../../../../../../bench/cpc/philosophers.pml"
