// expect: safe
// Double-checked locking with an atomic flag.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
_Atomic int ready;
int resource;

void *worker(void *arg) {
    if (!ready) {
        pthread_mutex_lock(&m);
        if (!ready) {
            resource = 7;
            ready = 1;
        }
        pthread_mutex_unlock(&m);
    }
    assert(resource == 7);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
