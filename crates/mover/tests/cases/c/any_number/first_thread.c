// expect: unsafe unreach-call
// The first thread does not take the lock.
// options: --property unreach-call
// engines: explicit auto
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
_Atomic int x;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    x = 0;
    assert(x == 0);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < 2; i++)
        pthread_create(&t, 0, worker, 0);
    while (1) {
        pthread_create(&t, 0, worker, 0);
        x = 1;
    }
}
