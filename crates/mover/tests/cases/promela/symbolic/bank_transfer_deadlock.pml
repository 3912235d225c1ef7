// expect: unsafe no-deadlock
// The symbolic engines decide the example as explicit search does, with every reduction.
// engines: explicit bmc/none,static,phase,dynamic
#include "../../../../../../examples/promela/bank_transfer_deadlock.pml"
