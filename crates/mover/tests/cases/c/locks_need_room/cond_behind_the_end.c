// expect: unsafe memory-safety
// A lock needs room. That a variable has no such part may also be said when it is read.
// options: --property memory-safety
// engines: explicit bmc
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

pthread_cond_t one, several[3];
long part;
int two = 2;

int main(void) {
    pthread_cond_t *lock = &several[two + 1];
    pthread_cond_init(lock, 0);
    return 0;
}
