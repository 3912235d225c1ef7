// expect: safe
// Loops of C threads, joins, and what is written before there are others.
// engines: token
#include "../../../../../../examples/c/pipeline.c"
