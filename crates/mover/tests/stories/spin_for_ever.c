/* One worker returns with the spin lock taken; the other spins for ever. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int lock;

static void *worker(void *leaves_early) {
    while (atomic_exchange(&lock, 1))
        ;
    if (leaves_early)
        return NULL;
    atomic_store(&lock, 0);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, &a); pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
