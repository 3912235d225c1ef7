// expect: unsafe memory-safety
// An address that comes back hides no access after the free: it is found where the block is elsewhere.
#include <stdlib.h>

int main(void) {
    int *p = malloc(sizeof *p);
    free(p);
    int *q = malloc(sizeof *q);
    *q = 1;
    if (p == q)
        *p = 2;
    else
        *p = 3;
    free(q);
    return 0;
}
