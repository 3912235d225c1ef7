/* Two kinds of waiters on one condition variable: the signal wakes the wrong one. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, stop;

static void *consumer(void *arg) {
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *watcher(void *arg) {
    pthread_mutex_lock(&lock);
    while (!stop)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, consumer, NULL);
    pthread_create(&b, NULL, watcher, NULL);
    pthread_mutex_lock(&lock);
    full = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
    return 0;
}
