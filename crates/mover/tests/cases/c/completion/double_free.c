// expect: unsafe memory-safety
// Commit point completion finds errors of every property.
// options: --property memory-safety
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
// expect: unsafe memory-safety
// engines: explicit/static/blocks,cpc,cpc-no-l19,cycle,lfs
#include "../../../../../../examples/c/double_free.c"
