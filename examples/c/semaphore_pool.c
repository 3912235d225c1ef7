/* Two permits for three workers.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t permits;
static atomic_int inside;

static void *worker(void *arg) {
    sem_wait(&permits);
    assert(atomic_fetch_add(&inside, 1) < 2);
    atomic_fetch_sub(&inside, 1);
    sem_post(&permits);
    return arg;
}

int main(void) {
    pthread_t t[3];
    sem_init(&permits, 0, 2);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    int left;
    sem_getvalue(&permits, &left);
    assert(left == 2);
    assert(sem_trywait(&permits) == 0);
    sem_destroy(&permits);
    return 0;
}
