// expect: unsafe no-deadlock
// Loops of C threads, joins, and what is written before there are others.
// engines: token
#include "../../../../../../examples/c/lock_inversion.c"
