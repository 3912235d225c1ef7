// expect: safe
// A local that may be read before it is written is named in the verdict.
// message: uninitialised memory is assumed to be zero
// message: (first `x`)
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

void *f(void *p) {
    assert(*(int *)p == 0);
    return 0;
}

int main(void) {
    int x;
    pthread_t t;
    pthread_create(&t, 0, f, &x);
    pthread_join(t, 0);
}
