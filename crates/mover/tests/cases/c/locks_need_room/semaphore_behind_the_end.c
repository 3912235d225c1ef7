// expect: unsafe memory-safety
// A lock needs room. That a variable has no such part may also be said when it is read.
// options: --property memory-safety
// engines: explicit bmc
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

sem_t one, several[3];
long part;
int two = 2;

int main(void) {
    sem_t *lock = &several[two + 1];
    sem_init(lock, 0, 2);
    return 0;
}
