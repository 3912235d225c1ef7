// expect: safe
// All that is usually asked of a server that never stops to create threads.
// message: no deadlock is reachable
// message: no data race is possible for any number of threads
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int inside;

void *worker(void *unused) {
    pthread_mutex_lock(&lock);
    inside++;
    assert(inside == 1);
    inside--;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t thread;
    while (1)
        pthread_create(&thread, 0, worker, 0);
}
