// expect: unsafe unreach-call
// C99: a function that is `inline` but not `static` has its definition elsewhere; this one is used.
#include <assert.h>
inline int two(void) {
    return 2;
}

int main(void) {
    assert(two() != 2);
    return 0;
}
