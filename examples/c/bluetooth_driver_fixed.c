/* The driver with the order turned round: count in first, then look.
 * The flags are atomic, the count is guarded by the lock.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

static int pending = 1; /* guarded by lock */
static _Atomic int stopping, stopped, event;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void leave(void) {
    pthread_mutex_lock(&lock);
    pending--;
    int left = pending;
    pthread_mutex_unlock(&lock);
    if (left == 0)
        event = 1;
}

static int enter(void) {
    pthread_mutex_lock(&lock);
    pending++;
    pthread_mutex_unlock(&lock);
    if (stopping) {
        leave();
        return -1;
    }
    return 0;
}

static void *stop(void *arg) {
    stopping = 1;
    leave();
    while (!event)
        ;
    stopped = 1;
    return arg;
}

static void *work(void *arg) {
    if (enter() == 0) {
        assert(!stopped);
        leave();
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, stop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
