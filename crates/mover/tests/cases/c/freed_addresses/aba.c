// expect: unsafe unreach-call
// The new block may be where the freed one was, so the compare-and-swap succeeds although the block on
// top is another one (the ABA problem). glibc returns the address of the last block freed of that size.
// engines: auto explicit bmc
// expect: safe
// A counter beside the address, changed with each push, tells the two apart.
// options: -DCOUNTED
// expect: safe
// A block that is freed only when nobody holds its address does not come back too early.
// options: -DLATE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
};
static struct node *_Atomic top;
static _Atomic int generation;

static void *popper(void *arg) {
    struct node *old = atomic_load(&top);
    int before = generation;
    if (old) {
#ifdef COUNTED
        __VERIFIER_atomic_begin();
        if (generation == before && top == old) {
            top = NULL;
            assert(generation == before);
        }
        __VERIFIER_atomic_end();
#else
        if (atomic_compare_exchange_strong(&top, &old, NULL))
            assert(generation == before);
#endif
    }
    return arg;
}

static struct node *late;

static void *recycler(void *arg) {
    struct node *old = atomic_load(&top);
    if (old && atomic_compare_exchange_strong(&top, &old, NULL)) {
        generation = generation + 1;
#ifdef LATE
        late = old;
#else
        free(old);
#endif
        struct node *n = malloc(sizeof *n);
        n->value = 2;
        atomic_store(&top, n);
    }
    return arg;
}

int main(void) {
    pthread_t x, y;
    struct node *n = malloc(sizeof *n);
    n->value = 1;
    top = n;
    pthread_create(&x, NULL, popper, NULL);
    pthread_create(&y, NULL, recycler, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    free(late);
    return 0;
}
