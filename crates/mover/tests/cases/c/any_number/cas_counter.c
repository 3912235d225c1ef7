// expect: safe
// A counter by compare and swap only grows.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

_Atomic unsigned value;

void *worker(void *arg) {
    unsigned old = value;
    if (old < 1000000000u && __atomic_compare_exchange_n((unsigned *)&value, &old, old + 1, 0, 5, 5))
        assert(value > 0);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
