/* The mutex is destroyed although the thread may still hold it.
 * expect: unsafe mutex-misuse
 */
#include <pthread.h>

static pthread_mutex_t lock;
static int value;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_mutex_init(&lock, NULL);
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_destroy(&lock);
    pthread_join(t, NULL);
    return 0;
}
