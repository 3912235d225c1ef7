/* Read-copy-update in small: the writer publishes a new copy, waits until the
 * reader is outside of its read section, and only then frees the old one.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct data {
    int a, b;
};

static _Atomic(struct data *) current;
static atomic_int reading;

static void *reader(void *arg) {
    (void)arg;
    for (int i = 0; i < 2; i++) {
        atomic_store(&reading, 1);
        struct data *d = atomic_load(&current);
        assert(d->a == d->b);
        atomic_store(&reading, 0);
    }
    return NULL;
}

int main(void) {
    pthread_t t;
    struct data *old = malloc(sizeof *old);
    old->a = old->b = 1;
    atomic_store(&current, old);
    pthread_create(&t, NULL, reader, NULL);
    struct data *fresh = malloc(sizeof *fresh);
    *fresh = (struct data){2, 2};
    atomic_store(&current, fresh);
    while (atomic_load(&reading))
        ;
    free(old);
    pthread_join(t, NULL);
    free(fresh);
    return 0;
}
