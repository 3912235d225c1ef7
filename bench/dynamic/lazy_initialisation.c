/* Lazy initialisation (Günther et al. 2017, Figure 4): whoever comes first publishes the
 * data with compare-and-swap; then every thread reads its part of it. */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 2
#endif
#define PART 4

int block[N * PART];
int *_Atomic data;

void *worker(void *arg) {
    long self = (long)arg;
    if (atomic_load(&data) == 0) {
        int *expected = 0;
        atomic_compare_exchange_strong(&data, &expected, block);
    }
    for (int i = 0; i < PART; i++) {
        int *now = atomic_load(&data);
        assert(now == block);
        assert(now[self * PART + i] == 7);
    }
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N * PART; i++)
        block[i] = 7;
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
