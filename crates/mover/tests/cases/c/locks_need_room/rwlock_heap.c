// expect: safe
// A lock needs room.
// options: --property memory-safety
// engines: explicit bmc
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

pthread_rwlock_t one, several[3];
long part;
int two = 2;

int main(void) {
    pthread_rwlock_t *lock = malloc(sizeof *lock);
    pthread_rwlock_init(lock, 0);
    return 0;
}
