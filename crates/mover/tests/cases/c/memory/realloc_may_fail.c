// expect: safe
// A realloc that fails leaves the block as it is.
// options: --malloc-may-fail --property unreach-call --property memory-safety --property memory-cleanup
// without: succeed
// engines: all
#include <assert.h>
#include <stdlib.h>
int main(void) {
    char *p = calloc(4, 1);
    if (!p)
        return 0;
    p[0] = 7;
    char *q = realloc(p, 8);
    if (!q) {
        assert(p[0] == 7);
        free(p);
        return 0;
    }
    assert(q[0] == 7);
    free(q);
}
