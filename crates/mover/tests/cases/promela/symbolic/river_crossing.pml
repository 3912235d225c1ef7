// expect: unsafe unreach-call
// The symbolic engines decide the example as explicit search does, with every reduction.
// engines: explicit bmc/none,static,phase,dynamic
#include "../../../../../../examples/promela/river_crossing.pml"
