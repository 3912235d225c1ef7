// expect: unsafe unreach-call
// Published before all of it is written: the rest has any value.
// engines: auto bmc
// expect: safe
// It is 0 if that is said, and the verdict says so.
// options: --zero-init
// message: uninitialised memory is assumed to be zero
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);
#include <stdlib.h>

struct node {
    int v;
    int w;
} *top;

int main(void) {
    struct node *n = malloc(sizeof *n);
    n->v = 1;
    top = n;
    assert(top->w == 0);
    free(n);
}
