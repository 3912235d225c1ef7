// expect: unsafe unreach-call
// The same without the lock: a smaller number may come last.
// options: --property unreach-call
// engines: bmc
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

    if (mine > largest)
        largest = mine;

    assert(mine <= largest);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, put, 0);
}
