// expect: safe
// Random numbers that nobody looks at cost nothing.
#include <stdlib.h>
int main(void) {
    unsigned seed = 1;
    srand(1);
    rand();
    rand_r(&seed);
    srandom(1);
    random();
    srand48(1);
    drand48();
    lrand48();
    mrand48();
    return 0;
}
