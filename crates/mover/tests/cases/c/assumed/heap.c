// expect: safe
// What is assumed is in the verdict.
// message: allocations are assumed to succeed, each at a new address (first at
#include <stdlib.h>

int main(void) {
    free(malloc(4));
}
