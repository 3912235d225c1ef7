/* The producer sets the flag and forgets to signal. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int done;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock);
    while (!done)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    return 0;
}
