// expect: safe
// What is used was initialised, whoever came first.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int ready, resource;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    if (!ready) {
        resource = 7;
        ready = 1;
    }
    assert(resource == 7);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
