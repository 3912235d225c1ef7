// expect: safe
// A lock needs room.
// options: --property memory-safety
// engines: explicit bmc
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

pthread_cond_t one, several[3];
long part;
int two = 2;

int main(void) {
    pthread_cond_t *lock = &several[two];
    pthread_cond_init(lock, 0);
    return 0;
}
