/* The stop/start race of a Bluetooth driver, after the published model of it
 * (Qadeer and Wu): a worker checks the stopping flag and then counts itself in;
 * between the two the stopper can finish. The flags are atomic, so this is no data race.
 * expect: unsafe unreach-call
 */
#include <assert.h>
#include <pthread.h>

static int pending = 1; /* guarded by lock */
static _Atomic int stopping, stopped, event;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int enter(void) {
    if (stopping)
        return -1;
    pthread_mutex_lock(&lock);
    pending++;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void leave(void) {
    pthread_mutex_lock(&lock);
    pending--;
    int left = pending;
    pthread_mutex_unlock(&lock);
    if (left == 0)
        event = 1;
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
