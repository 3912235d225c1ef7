// expect: unsafe unreach-call
// On a machine that is sequentially consistent one of them sees the other.
// options: --property unreach-call -DWRONG
// expect: safe
// What the verdict does not cover is said: a real machine may delay both writes.
// options: --property unreach-call
// message: checked under sequential consistency, which a program with a data race does not have
#include <assert.h>
#include <pthread.h>
static volatile int x, y;
static int a, b;
static void *f(void *p) { x = 1; a = y; return p; }
static void *g(void *p) { y = 1; b = x; return p; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, g, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
#ifdef WRONG
    assert(a == 0 || b == 0);
#else
    assert(a == 1 || b == 1);
#endif
}
