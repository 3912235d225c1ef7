// expect: safe
// The call does not block, and says the truth.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe unreach-call
// The thread may still run.
// options: -DSURE
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

sem_t go;

static void *run(void *unused) {
    sem_wait(&go);
    return (void *)5;
}

int main(void) {
    pthread_t thread;
    void *result = 0;
    sem_init(&go, 0, 0);
    pthread_create(&thread, 0, run, 0);
    assert(pthread_tryjoin_np(thread, &result) == EBUSY);
    sem_post(&go);
    int error = pthread_tryjoin_np(thread, &result);
#ifdef SURE
    assert(error == 0);
#endif
    if (error == 0) {
        assert(result == (void *)5);
    } else {
        assert(error == EBUSY && result == 0);
        assert(pthread_join(thread, &result) == 0 && result == (void *)5);
    }
    return 0;
}
