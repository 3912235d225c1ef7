// expect: safe
// Calls of the library say why they fail.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

pthread_mutex_t m;

int main(void) {
    pthread_mutexattr_t k;
    struct timespec soon = {0, 0};
    pthread_mutexattr_init(&k);
    pthread_mutexattr_settype(&k, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &k);
    assert(pthread_mutex_unlock(&m) == EPERM && pthread_mutex_lock(&m) == 0 && pthread_mutex_lock(&m) == EDEADLK);
    assert(pthread_mutex_trylock(&m) == EBUSY && pthread_mutex_timedlock(&m, &soon) == EDEADLK);
    assert(pthread_mutex_unlock(&m) == 0);
}
