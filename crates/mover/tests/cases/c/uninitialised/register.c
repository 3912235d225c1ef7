// expect: unsafe unreach-call
// A variable that nobody set has any value.
// engines: auto bmc
// expect: safe
// It is 0 if that is said, and the verdict says so.
// options: --zero-init
// message: uninitialised memory is assumed to be zero
#include <assert.h>
_Bool __VERIFIER_nondet_bool(void);
int main(void) {
    int x;
    if (__VERIFIER_nondet_bool())
        x = 0;
    assert(x != 7);
}
