// expect: unsafe unreach-call
// The test and the setting of the lock are two steps; two threads are needed.
// options: --property unreach-call
// engines: explicit auto
#include <assert.h>
#include <pthread.h>

_Atomic int lock, inside;

void *worker(void *arg) {
    if (lock == 0) {
        lock = 1;
        inside++;
        assert(inside == 1);
        inside--;
        lock = 0;
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
