// expect: unsafe no-data-race
// The flag is cleared before the last use.
// options: --property no-data-race
#include <pthread.h>
#include <stdatomic.h>

atomic_int taken;
int shared;

void *worker(void *unused) {
    int free = 0;
    if (atomic_compare_exchange_strong(&taken, &free, 1)) {
        atomic_store(&taken, 0);
        shared = !shared;
    }
    return 0;
}

int main(void) {
    pthread_t thread;
    while (1)
        pthread_create(&thread, 0, worker, 0);
}
