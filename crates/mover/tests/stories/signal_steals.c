/* A woken consumer finds the item taken: `if` around the wait. Spurious wake-ups play no part. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;
static int items;

static void *patient(void *arg) {
    pthread_mutex_lock(&lock);
    if (items == 0)
        pthread_cond_wait(&full, &lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *thief(void *arg) {
    pthread_mutex_lock(&lock);
    if (items > 0)
        items--;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, patient, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_mutex_lock(&lock);
    items = 1;
    pthread_cond_signal(&full);
    pthread_mutex_unlock(&lock);
    pthread_join(b, NULL);
    return 0;
}
