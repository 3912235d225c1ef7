// expect: unsafe unreach-call
// A ticket lock with two tickets that are given out again while they are in use: three threads.
// options: --property unreach-call
// engines: auto
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint next, now;
int inside;

void *worker(void *arg) {
    unsigned mine = atomic_fetch_add(&next, 1) % 2;
    while (atomic_load(&now) % 2 != mine)
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_fetch_add(&now, 1);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
