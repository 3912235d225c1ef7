// expect: safe
// Waits for a semaphore and for a thread end where their thread is cancelled; waits for a mutex do not.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe no-deadlock
// options: -DMUTEX
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t never;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_t sleeper, joiner;

static void *sleep_for_ever(void *unused) {
#ifdef MUTEX
    pthread_mutex_lock(&mutex);
#else
    sem_wait(&never);
#endif
    return 0;
}

static void *join_it(void *unused) {
    pthread_join(sleeper, 0);
    return 0;
}

int main(void) {
    void *result;
    sem_init(&never, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_create(&sleeper, 0, sleep_for_ever, 0);
    pthread_create(&joiner, 0, join_it, 0);
    pthread_cancel(joiner);
    pthread_join(joiner, &result);
    assert(result == PTHREAD_CANCELED);
    pthread_cancel(sleeper);
    pthread_join(sleeper, &result);
    assert(result == PTHREAD_CANCELED);
    return 0;
}
