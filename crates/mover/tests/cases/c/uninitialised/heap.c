// expect: safe
// Written before it is read: nothing to say.
// without: uninitialised memory is assumed to be zero
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);
#include <stdlib.h>

struct node {
    int v;
    struct node *next;
} *top;

int main(void) {
    struct node *n = malloc(sizeof *n);
    if (!n) return 1;
    n->v = 1;
    n->next = 0;
    top = n;
    int *z = calloc(2, 4);
    assert(z[1] == 0);
    free(z);
    free(n);
}
