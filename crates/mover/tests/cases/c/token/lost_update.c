// expect: unsafe unreach-call
// Loops of C threads, joins, and what is written before there are others.
// engines: token
#include "../../../../../../examples/c/lost_update.c"
