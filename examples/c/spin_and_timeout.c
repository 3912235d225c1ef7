/* Spin locks, and waits that may time out.
 * expect: safe
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_spinlock_t spin;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, count;

static void *worker(void *arg) {
    pthread_spin_lock(&spin);
    count++;
    pthread_spin_unlock(&spin);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    struct timespec until = {1, 0};
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&t, NULL, worker, NULL);
    pthread_spin_lock(&spin);
    count++;
    pthread_spin_unlock(&spin);
    pthread_mutex_lock(&lock);
    while (!ready) {
        int result = pthread_cond_timedwait(&changed, &lock, &until);
        assert(result == 0 || result == ETIMEDOUT);
        if (result == ETIMEDOUT)
            break;
    }
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    assert(count == 2 && ready);
    return 0;
}
