// expect: unsafe unreach-call
// A run that calls `f` is cut off, the other one is followed to its violation.
// engines: all
#include <assert.h>
int f(void);
int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x)
        f();
    else
        assert(x != 0);
    return 0;
}
