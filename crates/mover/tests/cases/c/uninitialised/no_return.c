// expect: unsafe unreach-call
// A function that ends without `return` returns any value.
// engines: auto bmc
#include <assert.h>
static int f(int c) {
    if (c)
        return 1;
}
int main(void) {
    assert(f(1) == 1);
    assert(f(0) != 5);
}
