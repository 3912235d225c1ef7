// expect: safe
// Who locks a robust mutex after its owner has exited is told, has the lock, and can make it consistent.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe unreach-call
// options: -DIGNORES
// expect: unsafe no-deadlock
// A mutex that is not robust stays locked.
// options: -DPLAIN
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t mutex;
int data;

static void *run(void *unused) {
    assert(pthread_mutex_lock(&mutex) == 0);
    data = 1;
    return 0;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
#ifndef PLAIN
    assert(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
#else
    assert(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_STALLED) == 0);
#endif
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    int error = pthread_mutex_lock(&mutex);
#ifdef IGNORES
    assert(error == 0);
#else
    assert(error == EOWNERDEAD && data == 1);
#endif
    data = 0;
    assert(pthread_mutex_consistent(&mutex) == 0);
    assert(pthread_mutex_consistent(&mutex) == EINVAL);
    assert(pthread_mutex_unlock(&mutex) == 0);
    assert(pthread_mutex_trylock(&mutex) == 0);
    assert(pthread_mutex_unlock(&mutex) == 0);
    return 0;
}
