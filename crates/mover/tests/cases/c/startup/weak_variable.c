// expect: unsafe unreach-call
// A weak variable that nobody defines has no address.
// engines: all
#include <assert.h>
extern int v __attribute__((weak));
int main(void) {
    if (&v)
        v = 1;
    assert(&v != 0);
}
