// expect: safe
// Every set of pairs gives the verdict.
// engines: token/all,mat,lex
#include "../../../../../../bench/mat/figure1.pml"
