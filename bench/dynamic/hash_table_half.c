/* Lockless hash table (Günther et al. 2017, Figure 5), third experiment: of N threads the
 * even ones look up elements that are there, the odd ones insert new ones. */
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

void *finder(void *arg) {
    assert(find_or_put((int)(long)arg) == 0);
    return 0;
}

void *putter(void *arg) {
    assert(find_or_put((int)(long)arg) == 1);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i += 2)
        find_or_put(SIZE * (i + 1));
    for (long i = 0; i < N; i++) {
        void *value = (void *)(SIZE * (i + 1));
        if (i % 2 == 0)
            pthread_create(&threads[i], 0, finder, value);
        else
            pthread_create(&threads[i], 0, putter, value);
    }
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
