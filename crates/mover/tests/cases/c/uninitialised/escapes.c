// expect: unsafe unreach-call
// A variable whose address is passed on has any value until it is written.
// engines: auto bmc
// expect: safe
// It is 0 if that is said, and the verdict says so.
// options: --zero-init
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
