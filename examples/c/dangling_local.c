/* A thread gets the address of a local variable of a function that returns.
 * expect: unsafe memory-safety
 */
#include <pthread.h>

static void *worker(void *arg) {
    *(int *)arg = 1;
    return NULL;
}

static pthread_t start(void) {
    pthread_t t;
    int local = 0;
    pthread_create(&t, NULL, worker, &local);
    return t;
}

int main(void) {
    pthread_t t = start();
    pthread_join(t, NULL);
    return 0;
}
