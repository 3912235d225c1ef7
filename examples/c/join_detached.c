/* A thread that has detached itself is joined.
 * expect: unsafe mutex-misuse
 */
#include <pthread.h>

static void *worker(void *arg) {
    pthread_detach(pthread_self());
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    return 0;
}
