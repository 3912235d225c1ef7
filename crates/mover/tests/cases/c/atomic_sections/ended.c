// expect: unsafe unreach-call
// After the last end other threads run again.
// options: --property unreach-call
// engines: all
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
static int x;
static void *f(void *a) { x = 1; return a; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    __VERIFIER_atomic_begin();
    __VERIFIER_atomic_begin();
    __VERIFIER_atomic_end();
    int a = x;
    __VERIFIER_atomic_end();
    int b = x;
    assert(a == b);
    pthread_join(t, 0);
}
