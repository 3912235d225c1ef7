// A sequence lock: the writer makes the sequence number odd while it writes; readers repeat until
// they have seen the same even number before and after. They never use a torn pair.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 2
#endif

static atomic_uint sequence;
static atomic_int left;
static atomic_int right;

static void *write_both(void *argument) {
    (void)argument;
    for (int i = 1; i <= 2; i++) {
        unsigned number = atomic_load(&sequence);
        atomic_store(&sequence, number + 1);
        atomic_store(&left, i);
        atomic_store(&right, i);
        atomic_store(&sequence, number + 2);
    }
    return NULL;
}

static void *read_both(void *argument) {
    (void)argument;
    int a, b;
    unsigned before, after;
    do {
        before = atomic_load(&sequence);
        a = atomic_load(&left);
        b = atomic_load(&right);
        after = atomic_load(&sequence);
    } while (before % 2 != 0 || before != after);
    assert(a == b);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_create(&threads[0], NULL, write_both, NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_both, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&sequence) == 4);
    return 0;
}
