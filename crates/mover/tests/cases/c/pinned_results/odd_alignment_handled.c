// expect: safe
// Nothing is allocated then, and nothing is written.
// engines: all
// options: --property unreach-call --property memory-safety --property memory-cleanup
#include <assert.h>
#include <stdlib.h>
int main(void) {
    void *p = 0;
    if (posix_memalign(&p, 3, 8) != 0) {
        assert(p == 0);
        return 0;
    }
    assert(0);
}
