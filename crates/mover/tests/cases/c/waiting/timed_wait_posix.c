// expect: unsafe unreach-call
// A timed wait ends before the mutex is locked again: a signal sent meanwhile is lost.
// engines: explicit/none,dynamic bmc/dynamic ic3/none token
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready;

void *set(void *a) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    struct timespec soon = {0, 0};
    int e = 0;
    pthread_mutex_lock(&m);
    pthread_create(&t, 0, set, 0);
    while (!ready && e == 0) e = pthread_cond_timedwait(&c, &m, &soon);
    assert(!(e == ETIMEDOUT && ready));
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
}
