// Read, copy, update (McKenney and Slingwine 1998) with a counter of readers for each phase: the
// writer publishes a copy, waits until no reader of the old phase is left, and frees the old one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif

struct config {
    int a;
    int b;
};

static _Atomic(struct config *) current;
static atomic_int phase;
static atomic_int readers[2];

static void *update(void *argument) {
    (void)argument;
    struct config *old = atomic_load(&current);
    struct config *new = malloc(sizeof *new);
    new->a = old->a + 1;
    new->b = old->b + 1;
    atomic_store(&current, new);
    for (int i = 0; i < 2; i++) {
        int last = atomic_load(&phase);
        atomic_store(&phase, 1 - last);
        while (atomic_load(&readers[last]) != 0) {
        }
    }
    free(old);
    return NULL;
}

static void *read_config(void *argument) {
    (void)argument;
    int now = atomic_load(&phase);
    atomic_fetch_add(&readers[now], 1);
    struct config *config = atomic_load(&current);
    int a = config->a;
    int b = config->b;
    assert(a == b);
    atomic_fetch_sub(&readers[now], 1);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    struct config *first = malloc(sizeof *first);
    first->a = 1;
    first->b = 1;
    atomic_store(&current, first);
    pthread_create(&threads[0], NULL, update, NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_config, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct config *last = atomic_load(&current);
    assert(last->a == 2);
    free(last);
    return 0;
}
