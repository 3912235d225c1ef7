// expect: safe
#include <assert.h>
inline int two(void) {
    return 2;
}
extern inline int three(void) {
    return 3;
}

int main(void) {
    int (*f)(void) = two;
    assert(f() == 2 && three() == 3);
    return 0;
}
