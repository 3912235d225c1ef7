// expect: unsafe unreach-call
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
#include <assert.h>
#include <stdatomic.h>

atomic_int x;

int main(void) {
    int e = 0;
    assert(atomic_compare_exchange_weak(&x, &e, 1));
}
