// expect: safe
// Any number of threads keep a running maximum under a lock made by hand. What one thread put in is
// never more than the maximum later on: a fact about a local and a shared number.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);

volatile int held, largest;

static void acquire(void) {
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(held == 0);
    held = 1;
    __VERIFIER_atomic_end();
}

static void *put(void *arg) {
    int mine = __VERIFIER_nondet_int();
    acquire();
    if (mine > largest)
        largest = mine;
    held = 0;
    assert(mine <= largest);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, put, 0);
}
