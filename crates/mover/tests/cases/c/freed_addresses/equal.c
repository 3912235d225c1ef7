// expect: unsafe unreach-call
// C11 7.22.3: only the addresses of blocks that live at the same time differ. It fails natively with glibc.
// engines: auto explicit bmc
// expect: safe
// Two blocks that live at the same time are at different addresses.
// options: -DBOTH
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *p = malloc(sizeof *p);
    int *q;
#ifndef BOTH
    free(p);
#endif
    q = malloc(sizeof *q);
    assert(p != q);
#ifdef BOTH
    free(p);
#endif
    free(q);
    return 0;
}
