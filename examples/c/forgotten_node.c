/* A producer that is told to stop leaves the node that it was about to hand over.
 * expect: unsafe memory-cleanup
 * options: --property memory-safety --property memory-cleanup
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
};

static _Atomic(struct node *) slot;
static atomic_bool stop;

static void *produce(void *arg) {
    struct node *fresh = malloc(sizeof *fresh);
    fresh->value = 1;
    if (!atomic_load(&stop))
        atomic_store(&slot, fresh);
    return arg; /* and if it was stopped? */
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, produce, NULL);
    atomic_store(&stop, 1);
    pthread_join(t, NULL);
    free(atomic_load(&slot));
    return 0;
}
