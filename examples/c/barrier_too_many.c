/* A barrier for three with only two threads: nobody gets through.
 * expect: unsafe no-deadlock
 */
#include <pthread.h>

static pthread_barrier_t barrier;

static void *worker(void *arg) {
    pthread_barrier_wait(&barrier);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
