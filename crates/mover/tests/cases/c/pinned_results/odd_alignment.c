// expect: unsafe unreach-call
// An alignment that is no power of two is refused with EINVAL.
// engines: all
#include <assert.h>
#include <stdlib.h>
int main(void) {
    void *p = 0;
    assert(posix_memalign(&p, 3, 8) == 0);
    free(p);
}
