// expect: safe
// Written before it is read: nothing to say.
// without: uninitialised memory is assumed to be zero
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

struct pair {
    int x;
    char c;
    long y;
} g;

void *f(void *p) {
    struct pair *q = p;
    assert(q->x == 0);
    return 0;
}

int main(void) {
    struct pair s = g;
    pthread_t t;
    pthread_create(&t, 0, f, &s);
    pthread_join(t, 0);
}
