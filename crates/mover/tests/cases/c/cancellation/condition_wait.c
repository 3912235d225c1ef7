// expect: safe
// A thread that is cancelled in a wait has the mutex again when its handler runs.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe no-deadlock
// Without a handler the mutex stays locked.
// options: -DNO_HANDLER
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, unlocked;

static void unlock(void *lock) {
    unlocked++;
    pthread_mutex_unlock(lock);
}

static void *wait(void *unused) {
    pthread_mutex_lock(&mutex);
#ifdef NO_HANDLER
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
#else
    pthread_cleanup_push(unlock, &mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_cleanup_pop(1);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, wait, 0);
    assert(pthread_cancel(thread) == 0);
    assert(pthread_join(thread, &result) == 0);
    assert(result == PTHREAD_CANCELED);
    pthread_mutex_lock(&mutex);
#ifndef NO_HANDLER
    assert(unlocked == 1);
#endif
    pthread_mutex_unlock(&mutex);
    return 0;
}
