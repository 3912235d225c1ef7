// expect: safe
// expect: unsafe unreach-call
// options: -DSMALL
#include <assert.h>
#include <stdlib.h>

int main(void) {
    srand48(3);
    double number = drand48();
    assert(number >= 0 && number < 1);
#ifdef SMALL
    assert(number < 0.75);
#endif
    return 0;
}
