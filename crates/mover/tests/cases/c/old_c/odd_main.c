// expect: safe
// gcc compiles this with a warning.
// expect: unsafe unreach-call
// options: -DWRONG
#include <assert.h>

long main(short count) {
#ifdef WRONG
    assert(count == 7);
#endif
    return 0;
}
