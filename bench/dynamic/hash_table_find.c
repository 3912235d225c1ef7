/* Lockless hash table (Günther et al. 2017, Figure 5), second experiment: N threads look up
 * elements that are in the table already. */
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>

#ifndef N
#define N 2
#endif
#define SIZE 8
#define EMPTY 0

_Atomic int table[SIZE];

static int find_or_put(int value) {
    for (int i = 0; i < SIZE; i++) {
        int index = (value + i) % SIZE;
        int expected = EMPTY;
        if (atomic_compare_exchange_strong(&table[index], &expected, value))
            return 1;
        if (expected == value)
            return 0;
    }
    return -1;
}

void *worker(void *arg) {
    int value = (int)(long)arg;
    assert(find_or_put(value) == 0);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        find_or_put(SIZE * (i + 1));
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)(SIZE * (i + 1)));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
