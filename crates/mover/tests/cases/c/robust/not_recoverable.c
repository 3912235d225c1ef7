// expect: safe
// A mutex that is unlocked without having been made consistent is lost.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe unreach-call
// options: -DUSES
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t mutex;

static void *run(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_exit(0);
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    assert(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
    assert(pthread_mutex_lock(&mutex) == EDEADLK);
    assert(pthread_mutex_unlock(&mutex) == 0);
#ifdef USES
    assert(pthread_mutex_lock(&mutex) == 0);
#else
    assert(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    assert(pthread_mutex_unlock(&mutex) == EPERM);
#endif
    assert(pthread_mutex_destroy(&mutex) == 0);
    return 0;
}
