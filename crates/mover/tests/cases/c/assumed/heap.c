// expect: safe
// What is assumed is in the verdict.
// message: allocations are assumed to succeed (first at
#include <stdlib.h>

int main(void) {
    free(malloc(4));
}
