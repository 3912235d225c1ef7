// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
#include <stdlib.h>

int main(void) {
    int *a = malloc(8), *b = malloc(8);
    b[0] = 3;
    volatile long i = 1L << 30;
    int v = a[i];
    free(a);
    free(b);
    return v;
}
