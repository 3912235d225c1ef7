/* The lockless hash table of Günther et al. (2017), Figure 5: buckets are probed in order from the
 * hash value on, and an empty bucket is filled by compare-and-swap and never changes again. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 2
#endif

#define BUCKETS 10
#define EMPTY (-1)

enum { INSERTED, FOUND, TABLE_FULL };

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

_Atomic int table[BUCKETS] = {EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY};

static int find_or_put(int value) {
    int hash = value / 10;
    for (int i = 0; i < BUCKETS; i++) {
        int index = (i + hash) % BUCKETS;
        int expected = EMPTY;
        if (atomic_compare_exchange_strong(&table[index], &expected, value))
            return INSERTED;
        if (table[index] == value)
            return FOUND;
    }
    return TABLE_FULL;
}

/* An element that the solver chooses. */
static int any_value(void) {
    int value = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= value && value < 10 * BUCKETS);
    return value;
}

static int is_present(int value) {
    for (int i = 0; i < BUCKETS; i++)
        if (table[i] == value)
            return 1;
    return 0;
}
