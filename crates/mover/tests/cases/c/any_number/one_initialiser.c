// expect: safe
// The thread whose increment gave 1 is the only one that counts: a fact about two threads and a number
// that never stops growing.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);

volatile unsigned tickets, written;

static void *worker(void *arg) {
    unsigned mine;
    __VERIFIER_atomic_begin();
    __VERIFIER_assume(tickets != -1);
    mine = ++tickets;
    __VERIFIER_atomic_end();
    if (mine == 1) {
        written = 7;
        assert(written == 7);
        written = 8;
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
}
