/* A mutex that its owner may take again, and one that refuses.
 * expect: safe
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t strict;
static int inside;

static void nested(int depth) {
    pthread_mutex_lock(&again);
    inside++;
    if (depth > 0) {
        pthread_mutex_lock(&again);
        pthread_mutex_unlock(&again);
    }
    assert(inside == 1);
    inside--;
    pthread_mutex_unlock(&again);
}

static void *worker(void *arg) {
    nested(1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&strict, &kind);
    pthread_create(&t, NULL, worker, NULL);
    nested(0);
    assert(pthread_mutex_lock(&strict) == 0);
    assert(pthread_mutex_lock(&strict) == EDEADLK);
    assert(pthread_mutex_unlock(&strict) == 0);
    assert(pthread_mutex_unlock(&strict) == EPERM);
    pthread_join(t, NULL);
    return 0;
}
