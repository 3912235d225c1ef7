// expect: safe
// The handles of the threads are kept and joined.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    x++;
    assert(x == 1);
    x--;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t[50];
    for (int i = 0; i < 50; i++)
        pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 50; i++)
        pthread_join(t[i], 0);
    return 0;
}
