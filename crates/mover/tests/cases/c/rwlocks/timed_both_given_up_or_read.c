// expect: safe
// A timed lock of a reader-writer lock may time out.
// engines: explicit bmc
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER;
int v;

void *t(void *a) {
    pthread_rwlock_wrlock(&w);
    v++;
    pthread_rwlock_unlock(&w);
    return 0;
}

int main(void) {
    pthread_t p;
    struct timespec soon = {0, 0};
    pthread_create(&p, 0, t, 0);
    int reads = pthread_rwlock_timedrdlock(&w, &soon), writes = pthread_rwlock_timedwrlock(&w, &soon);
    assert(reads != 0 || writes == ETIMEDOUT);
    if (reads == 0 || writes == 0) pthread_rwlock_unlock(&w);
    pthread_join(p, 0);
}
