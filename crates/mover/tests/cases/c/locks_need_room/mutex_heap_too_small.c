// expect: unsafe memory-safety
// A lock needs room. That a variable has no such part may also be said when it is read.
// options: --property memory-safety
// engines: explicit bmc
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

pthread_mutex_t one, several[3];
long part;
int two = 2;

int main(void) {
    pthread_mutex_t *lock = malloc(sizeof lock);
    pthread_mutex_init(lock, 0);
    return 0;
}
