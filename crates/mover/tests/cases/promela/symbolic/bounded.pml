// expect: safe up to
// A bound is in the verdict.
// options: --depth 3
// engines: bmc
// message: safe up to 3 blocks
#include "../../../../../../examples/promela/peterson2.pml"
