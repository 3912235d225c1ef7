// expect: unsafe unreach-call
// The result of strcmp has a sign and no other meaning.
// engines: auto bmc
#include <assert.h>
int strcmp(const char *, const char *);
char a[] = "a", c[] = "c";
int main(void) { assert(strcmp(a, c) == -1); }
