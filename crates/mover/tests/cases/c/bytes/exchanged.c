// expect: safe
// Every byte that can be read is set.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

union {
    struct {
        char a;
        int b;
    } s;
    _Atomic unsigned char c[8];
} u;

int main(void) {
    u.s.b = 1;
    assert(atomic_fetch_add(&u.c[2], 3) == 0 && atomic_fetch_add(&u.c[2], 3) == 3);
}
