// expect: safe
// A lock needs room.
// options: --property memory-safety
// engines: explicit bmc
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

pthread_barrier_t one, several[3];
long part;
int two = 2;

int main(void) {
    pthread_barrier_t *lock = &several[two];
    pthread_barrier_init(lock, 0, 2);
    return 0;
}
