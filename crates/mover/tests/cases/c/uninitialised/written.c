// expect: safe
// Written before it is read: nothing to say.
// without: uninitialised memory is assumed to be zero
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

void *f(void *p) {
    assert(*(int *)p == 1);
    return 0;
}

int main(void) {
    int x = 1;
    pthread_t t[2];
    int a[2];
    a[1] = 0;
    a[0] = 0;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, f, &x);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(a[__VERIFIER_nondet_bool()] == 0);
}
