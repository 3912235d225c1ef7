/* Lockless hash table, first experiment (Günther et al. 2017, Section 6): each of N threads inserts an
 * element of its own into an empty table. After all of them have finished, all elements are present.
 * With -DOWN_CHECKS each thread looks for its own element instead of main. */
#include "hash_table.h"

/* All elements have the same hash value, so every thread meets every other. */
#define ELEMENT(i) (20 + (int)(i))

void *worker(void *arg) {
    int value = ELEMENT((long)arg);
#ifdef OWN_CHECKS
    assert(find_or_put(value) == INSERTED);
    assert(find_or_put(value) == FOUND);
#else
    find_or_put(value);
#endif
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
#ifndef OWN_CHECKS
    for (int i = 0; i < N; i++)
        assert(is_present(ELEMENT(i)));
#endif
    return 0;
}
