// expect: unsafe unreach-call
// Threads wait for a gate; the third one fails.
// options: --property unreach-call
// engines: explicit
#include <assert.h>
#include <pthread.h>

_Atomic int gate, x;

void *worker(void *arg) {
    if (gate) {
        x++;
        assert(x != 3);
    }
    return 0;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < 3; i++)
        pthread_create(&t, 0, worker, 0);
    gate = 1;
    while (1)
        pthread_create(&t, 0, worker, 0);
}
