// expect: safe
// What holds with one thread need not hold with more.
// options: --property unreach-call
//
// expect: unknown
// options: --property unreach-call --threads any
// message: no proof for any number of threads
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_bool arrived;

void *worker(void *unused) {
    assert(!atomic_exchange(&arrived, 1));
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    return 0;
}
