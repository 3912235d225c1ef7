/* The second lock is only tried; whoever fails lets go and tries again.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0)
            break;
        pthread_mutex_unlock(first);
    }
    inside++;
    assert(inside == 1);
    inside--;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *there(void *arg) {
    both(&a, &b);
    return arg;
}

static void *back(void *arg) {
    both(&b, &a);
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, NULL, there, NULL);
    pthread_create(&y, NULL, back, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    return 0;
}
