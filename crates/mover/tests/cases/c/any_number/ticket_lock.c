// expect: safe
// A ticket lock with three tickets: who gets none goes away.
// options: --property unreach-call
// engines: auto modular
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint state; /* next ticket * 4 + now serving */
int inside;

void *worker(void *arg) {
    unsigned old = atomic_load(&state), next = old / 4, now = old % 4;
    if ((next + 1) % 3 == now)
        return 0;
    if (!atomic_compare_exchange_strong(&state, &old, (next + 1) % 3 * 4 + now))
        return 0;
    while (atomic_load(&state) % 4 != next)
        ;
    inside++;
    assert(inside == 1);
    inside--;
    do {
        old = atomic_load(&state);
    } while (!atomic_compare_exchange_strong(&state, &old, old / 4 * 4 + (next + 1) % 3));
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
