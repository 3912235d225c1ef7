/* The same without waiting for the reader: it can use freed memory.
 * expect: unsafe memory-safety
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct data {
    int a, b;
};

static _Atomic(struct data *) current;

static void *reader(void *arg) {
    (void)arg;
    struct data *d = atomic_load(&current);
    assert(d->a == d->b);
    return NULL;
}

int main(void) {
    pthread_t t;
    struct data *old = malloc(sizeof *old);
    old->a = old->b = 1;
    atomic_store(&current, old);
    pthread_create(&t, NULL, reader, NULL);
    struct data *fresh = malloc(sizeof *fresh);
    fresh->a = fresh->b = 2;
    atomic_store(&current, fresh);
    free(old);
    pthread_join(t, NULL);
    free(fresh);
    return 0;
}
