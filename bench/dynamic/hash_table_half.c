/* Lockless hash table, third experiment (Günther et al. 2017, Section 6): half of N threads insert
 * elements that are present, which the solver chooses, the other half new ones. The text names no
 * verification condition; here those of the first two experiments are checked together.
 * With -DOWN_CHECKS each thread looks for its own new element instead of main. */
#include "hash_table.h"

/* New elements are distinct from each other and from those that the solver chooses. */
#define NEW_ELEMENT(i) (10 * BUCKETS + (int)(i))

int elements[N];

void *finder(void *arg) {
    assert(find_or_put(elements[(long)arg]) == FOUND);
    return 0;
}

void *putter(void *arg) {
    int value = NEW_ELEMENT((long)arg);
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
    for (int i = 0; i < N; i += 2) {
        elements[i] = any_value();
        find_or_put(elements[i]);
    }
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, i % 2 == 0 ? finder : putter, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
#ifndef OWN_CHECKS
    for (int i = 1; i < N; i += 2)
        assert(is_present(NEW_ELEMENT(i)));
#endif
    return 0;
}
