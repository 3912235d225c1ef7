// expect: safe
// Threads wait at a condition variable until main opens the gate.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
int is_open, data;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    while (!is_open)
        pthread_cond_wait(&opened, &m);
    pthread_mutex_unlock(&m);
    assert(data == 42);
    return 0;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < 100; i++)
        pthread_create(&t, 0, worker, 0);
    data = 42;
    pthread_mutex_lock(&m);
    is_open = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&m);
    return 0;
}
