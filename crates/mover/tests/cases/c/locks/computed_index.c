// expect: safe
// options: --property unreach-call
// engines: explicit/none,static,phase,dynamic
// Which lock is taken is computed in the step that takes it; it is given back by another name.
#include <assert.h>
#include <pthread.h>

#define N 3
pthread_mutex_t forks[N];
int eating[N];

void *philosopher(void *arg) {
    int seat = (int)(long)arg;
    int low = seat, high = (seat + 1) % N;
    if (low > high) {
        int swap = low;
        low = high;
        high = swap;
    }
    pthread_mutex_lock(&forks[low]);
    pthread_mutex_lock(&forks[high]);
    eating[seat] = 1;
    assert(!eating[(seat + 1) % N]);
    eating[seat] = 0;
    pthread_mutex_unlock(&forks[high]);
    pthread_mutex_unlock(&forks[low]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, philosopher, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
