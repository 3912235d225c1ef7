// expect: safe
// Handlers run in reverse order, then destructors; quick exits run none.
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
_Bool __VERIFIER_nondet_bool(void);
static int order;
static void first(void) {
    assert(order == 1);
    order = 2;
}
static void second(void) {
    assert(order == 0);
    order = 1;
}
__attribute__((destructor)) static void last(void) {
    assert(order == 2);
}

int main(void) {
    assert(atexit(first) == 0);
    assert(atexit(second) == 0);
    if (__VERIFIER_nondet_bool())
        _exit(1);
    if (__VERIFIER_nondet_bool())
        exit(0);
    return 0;
}
