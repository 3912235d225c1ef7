// expect: unsafe unreach-call
// However a structure is read as a whole, another thread can change it between two fields: it is
// copied, passed by value (as one integer or two, of any alignment), copied within the heap.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct range {
    int low, high;
};
static struct range shared, *heap, *other;

static struct {
    long before;
    struct range in;
} outer;

static void check(struct range r) {
    assert(r.low >= r.high);
}

static void *move(void *arg) {
    shared.low = 1;
    shared.high = 1;
    heap->low = 1;
    heap->high = 1;
    outer.in.low = 1;
    outer.in.high = 1;
    return arg;
}

int main(void) {
    pthread_t t;
    heap = calloc(1, sizeof *heap);
    other = calloc(1, sizeof *other);
    pthread_create(&t, 0, move, 0);
    check(outer.in);
    pthread_join(t, 0);
    return 0;
}
