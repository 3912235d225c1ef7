// expect: unsafe no-deadlock
// Loops of C threads, joins, and what is written before there are others.
// engines: token
#include "../../../../../../examples/c/barrier_too_many.c"
