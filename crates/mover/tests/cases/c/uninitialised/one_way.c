// expect: safe
// A local that may be read before it is written is named in the verdict.
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
