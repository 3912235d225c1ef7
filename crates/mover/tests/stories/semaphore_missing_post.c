/* An early return keeps the permit. */
#include <pthread.h>
#include <semaphore.h>

static sem_t permits;
static int broken = 1;

static void *user(void *arg) {
    sem_wait(&permits);
    if (broken)
        return NULL;
    sem_post(&permits);
    return arg;
}

int main(void) {
    pthread_t t;
    sem_init(&permits, 0, 1);
    pthread_create(&t, NULL, user, NULL);
    pthread_join(t, NULL);
    sem_wait(&permits);
    return 0;
}
