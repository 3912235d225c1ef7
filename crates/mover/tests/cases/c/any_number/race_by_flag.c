// expect: safe
// A lock made of a compare-and-swap: that its users do not race takes two threads in a view.
// options: --property no-data-race
// message: no data race is possible for any number of threads
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int shared;

void *worker(void *unused) {
    int free = 0;
    if (atomic_compare_exchange_strong(&taken, &free, 1)) {
        shared = !shared;
        atomic_store(&taken, 0);
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    while (1)
        pthread_create(&thread, 0, worker, 0);
}
