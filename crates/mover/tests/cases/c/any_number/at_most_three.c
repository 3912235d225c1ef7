// expect: safe
// What holds with three threads need not hold with more: four of them are needed here, so this is
// no proof for any number.
// options: --property unreach-call
//
// expect: unknown
// options: --property unreach-call --threads any
// message: no proof for any number of threads
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int arrived;

void *worker(void *unused) {
    int before = atomic_fetch_add(&arrived, 1);
    assert(before < 3);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, worker, 0);
    return 0;
}
