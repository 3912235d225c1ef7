// expect: unsafe unreach-call
// A local array has any content until it is written.
// engines: auto bmc
// expect: safe
// It is 0 if that is said, and the verdict says so.
// options: --zero-init
// message: uninitialised memory is assumed to be zero
// message: (first `a`)
#include <assert.h>
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);

int main(void) {
    int a[4];
    a[0] = 1;
    assert(a[1 + __VERIFIER_nondet_bool()] == 0);
}
