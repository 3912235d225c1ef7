// expect: safe
// The waiter is told as soon as the owner has exited; nobody has the mutex twice.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe unreach-call
// options: -DNEVER
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t mutex;
int inside, died;

static void *run(void *leaves) {
    int error = pthread_mutex_lock(&mutex);
    assert(error == 0 || error == EOWNERDEAD);
    assert(inside == 0);
    inside = 1;
    if (error == EOWNERDEAD) {
        died = 1;
        pthread_mutex_consistent(&mutex);
    }
    inside = 0;
    if (!leaves)
        pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_t one, two;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_create(&one, 0, run, &inside);
    pthread_create(&two, 0, run, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
#ifdef NEVER
    assert(!died);
#endif
    return 0;
}
