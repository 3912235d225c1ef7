// expect: unsafe memory-safety
// options: --malloc-may-fail
// engines: all
// expect: safe
// message: allocations are assumed to succeed
// engines: all
#include <stdlib.h>
int main(void) {
    int *p = malloc(sizeof *p);
    *p = 1;
    free(p);
}
