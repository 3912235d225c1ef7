// expect: unsafe unreach-call
// The functions in the section are called when the process exits, after `main` has returned.
// engines: all
// expect: safe
// options: -DRETURNED=1
// engines: all
#include <assert.h>
#ifndef RETURNED
#define RETURNED 0
#endif
static int returned;
static void f(void) { assert(returned == RETURNED); }
__attribute__((section(".fini_array"), used)) static void (*p)(void) = f;
int main(void) {
    returned = 1;
    return 0;
}
