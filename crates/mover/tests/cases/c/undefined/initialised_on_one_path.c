// expect: unsafe unreach-call
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
#include <assert.h>

extern _Bool __VERIFIER_nondet_bool(void);

int main(void) {
    int x;
    if (__VERIFIER_nondet_bool()) x = 1;
    assert(x == 1);
}
