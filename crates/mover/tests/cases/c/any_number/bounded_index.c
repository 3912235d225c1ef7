// expect: safe
// A free index is handed out by compare-and-swap and is never 0, so a published one is not 0 either:
// bounds and a remainder of a shared number.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int next = 1, published;
int cells[40];

static void *worker(void *arg) {
    int mine = atomic_load(&next);
    if (mine + 1 >= 40)
        return 0;
    if (!atomic_compare_exchange_strong(&next, &mine, mine + 2))
        return 0;
    cells[mine] = 1;
    atomic_store(&published, mine);
    assert(atomic_load(&published) != 0);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
}
