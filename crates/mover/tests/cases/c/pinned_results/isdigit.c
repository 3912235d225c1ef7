// expect: unsafe unreach-call
// True is any number but 0.
// engines: auto bmc
#include <assert.h>
int isdigit(int);
int c = '5';
int main(void) { assert(isdigit(c) == 1); }
