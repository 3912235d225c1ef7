// expect: unsafe mutex-misuse
// Loops of C threads, joins, and what is written before there are others.
// engines: token
#include "../../../../../../examples/c/unlock_not_held.c"
