// expect: safe
// The inner end does not end the outer section.
// The other thread's write is in no section, which is a race, but not the point here.
// options: --property unreach-call --property no-deadlock --property memory-safety --property mutex-misuse
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
    int b = x;
    assert(a == b);
    __VERIFIER_atomic_end();
    pthread_join(t, 0);
}
