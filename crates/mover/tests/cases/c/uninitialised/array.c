// expect: safe
// A local that may be read before it is written is named in the verdict.
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
