// expect: unknown
// An object that states have no room for is not one that the machine has no memory for.
// engines: bmc ic3
// message: more than 8388608 bytes are allocated at once
// message: smaller objects
#include <stdlib.h>

extern unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

int main(void) {
    char *p = malloc(1ul << 24);
    if (!p) return 0;
    free(p);
}
