// expect: safe
// A lock made of one atomic exchange.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

_Atomic int lock;
int inside;

void *worker(void *arg) {
    while (__atomic_exchange_n((int *)&lock, 1, __ATOMIC_SEQ_CST))
        ;
    inside = 1;
    assert(inside == 1);
    inside = 0;
    lock = 0;
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
