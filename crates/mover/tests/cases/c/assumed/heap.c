// expect: safe
// What is assumed is in the verdict.
// message: there is always memory to allocate, each time at a new address (first at
#include <stdlib.h>

int main(void) {
    free(malloc(4));
}
