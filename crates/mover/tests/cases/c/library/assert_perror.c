// expect: unsafe unreach-call
// expect: safe
// options: -DFINE
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>

int main(void) {
#ifdef FINE
    assert_perror(0);
#else
    assert_perror(EINVAL);
#endif
    return 0;
}
