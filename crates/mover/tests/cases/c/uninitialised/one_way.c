// expect: unsafe unreach-call
// Written on one way only: on the other it has any value.
// engines: auto bmc
// expect: safe
// It is 0 if that is said, and the verdict says so.
// options: --zero-init
// message: uninitialised memory is assumed to be zero
// message: (first `s`)
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

int main(void) {
    struct {
        int x, y;
    } s;
    s.x = 1;
    if (__VERIFIER_nondet_bool()) s.y = 0;
    int *p = __VERIFIER_nondet_bool() ? &s.x : &s.y;
    assert(*p < 2);
}
