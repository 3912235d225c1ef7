// expect: safe
// The sign is that of the first difference.
// engines: all
#include <assert.h>
int strcmp(const char *, const char *);
int memcmp(const void *, const void *, unsigned long);
char a[] = "a", c[] = "c";
int main(void) {
    assert(strcmp(a, c) < 0);
    assert(strcmp(c, a) > 0);
    assert(strcmp(a, a) == 0);
    assert(memcmp(a, c, 2) < 0);
    int order = memcmp(c, a, 2);
    assert(order > 0);
}
