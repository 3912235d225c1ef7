// expect: unsafe unreach-call
// Every set of pairs gives the verdict.
// engines: token/all,mat,lex
#include "../../../../../../examples/promela/lost_update.pml"
