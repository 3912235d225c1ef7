// expect: unsafe unreach-call
// printf returns how many characters it wrote, or a negative number.
// engines: auto bmc
#include <assert.h>
#include <stdio.h>
int main(void) { assert(printf("ab") == 0); }
