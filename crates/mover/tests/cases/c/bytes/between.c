// expect: safe
// Every byte that can be read is set.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

union u {
    struct {
        char a;
        int b;
    } s;
    unsigned char c[8];
} u;

_Thread_local union u v;

void *t(void *x) {
    u.c[2] = 1;
    v.c[2] = 1;
    return 0;
}

int main(void) {
    pthread_t p;
    pthread_create(&p, 0, t, 0);
    pthread_join(p, 0);
    v.s.b = 1;
    assert(v.c[2] == 0 && u.c[2] == 1);
}
