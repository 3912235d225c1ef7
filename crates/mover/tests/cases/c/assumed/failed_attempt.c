// expect: unsafe no-data-race
// expect: safe
// options: --property unreach-call
// without: a `trylock` that fails is assumed
// expect: safe
// options: -DIGNORED
// without: a `trylock` that fails is assumed
// In C11 an attempt to lock that fails orders nothing, and the accesses to `x` race.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *holder(void *unused) {
#ifndef IGNORED
    x = 1;
#endif
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_create(&t, 0, holder, 0);
#ifdef IGNORED
    pthread_mutex_trylock(&own);
    pthread_mutex_unlock(&own);
#else
    if (pthread_mutex_trylock(&m)) return x > 1;
    pthread_mutex_unlock(&m);
#endif
    pthread_join(t, 0);
    return 0;
}
