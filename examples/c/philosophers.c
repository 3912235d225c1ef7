/* Dining philosophers who all take the left fork first.
 * expect: unsafe no-deadlock
 */
#include <pthread.h>

#define N 3

static pthread_mutex_t forks[N];
static int meals;

static void *philosopher(void *arg) {
    int seat = (int)(long)arg;
    pthread_mutex_lock(&forks[seat]);
    pthread_mutex_lock(&forks[(seat + 1) % N]);
    meals++;
    pthread_mutex_unlock(&forks[(seat + 1) % N]);
    pthread_mutex_unlock(&forks[seat]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_mutex_init(&forks[i], NULL);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
