// expect: unsafe unreach-call
// A weak function that nobody defines has no address.
// engines: all
#include <assert.h>
int w(void) __attribute__((weak));
int main(void) { assert(w != 0); }
