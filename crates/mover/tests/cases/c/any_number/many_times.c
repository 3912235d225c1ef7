// expect: safe
// A number of threads that no search reaches.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    x = 1;
    assert(x == 1);
    x = 0;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < 10000; i++)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
