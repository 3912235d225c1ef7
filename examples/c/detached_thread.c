/* A detached thread hands its result over with a semaphore.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t done;
static int result;

static void *worker(void *arg) {
    result = 3;
    sem_post(&done);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_attr_t attributes;
    sem_init(&done, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&t, &attributes, worker, NULL);
    pthread_attr_destroy(&attributes);
    sem_wait(&done);
    assert(result == 3);
    return 0;
}
