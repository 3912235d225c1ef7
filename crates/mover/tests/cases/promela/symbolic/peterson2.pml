// expect: safe
// The symbolic engines decide the example as explicit search does, with every reduction.
// engines: explicit ic3/none,static,phase,dynamic
#include "../../../../../../examples/promela/peterson2.pml"
