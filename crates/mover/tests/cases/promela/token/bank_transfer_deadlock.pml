// expect: unsafe no-deadlock
// Every set of pairs gives the verdict.
// engines: token/all,mat,lex
#include "../../../../../../examples/promela/bank_transfer_deadlock.pml"
