// expect: unsafe unreach-call
// Loops of C threads, joins, and what is written before there are others.
// options: --property unreach-call
// engines: token
#include "../../../../../../examples/c/lost_update.c"
