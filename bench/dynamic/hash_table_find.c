/* Lockless hash table, second experiment (Günther et al. 2017, Section 6): each of N threads attempts to
 * insert an element that is present. Every operation reports that it is. The text does not say which
 * elements these are; here the solver chooses them, so that no look-up can be decided beforehand.
 * With -DFIGURE_TABLE the table is that of Figure 5, and threads look for its elements. */
#include "hash_table.h"

#ifdef FIGURE_TABLE
static const int FIGURE[BUCKETS] = {EMPTY, EMPTY, 22, 35, 46, 25, EMPTY, EMPTY, 91, EMPTY};
static const int ELEMENTS[5] = {25, 46, 22, 91, 35};
#endif
int elements[N];

void *worker(void *arg) {
    assert(find_or_put(elements[(long)arg]) == FOUND);
    return 0;
}

int main(void) {
    pthread_t threads[N];
#ifdef FIGURE_TABLE
    for (int i = 0; i < BUCKETS; i++)
        table[i] = FIGURE[i];
    for (int i = 0; i < N; i++)
        elements[i] = ELEMENTS[i % 5];
#else
    for (int i = 0; i < N; i++) {
        elements[i] = any_value();
        find_or_put(elements[i]);
    }
#endif
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
