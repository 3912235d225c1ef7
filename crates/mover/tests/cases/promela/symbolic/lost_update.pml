// expect: unsafe unreach-call
// The symbolic engines decide the example as explicit search does, with every reduction.
// engines: explicit bmc/static,phase,dynamic
#include "../../../../../../examples/promela/lost_update.pml"
