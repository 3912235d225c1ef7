// expect: safe
// A lock needs room.
// options: --property memory-safety
// engines: explicit bmc
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

sem_t one, several[3];
long part;
int two = 2;

int main(void) {
    sem_t *lock = &one;
    sem_init(lock, 0, 2);
    return 0;
}
