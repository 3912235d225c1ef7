// expect: unsafe unreach-call
// The symbolic engines decide the example as explicit search does, with every reduction.
// engines: explicit bmc,ic3/none,static,phase,dynamic
#include "../../../../../../examples/promela/mutex_naive.pml"
