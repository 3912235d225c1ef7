/* Treiber's stack whose top carries a counter beside the index: no ABA problem.
 * A popper may read `next` of a node that is pushed again, so it is atomic; `taken` belongs
 * to the thread that popped the node.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NONE 0u

struct node {
    _Atomic unsigned next;
    int taken;
};

static struct node pool[3]; /* index 0 is none */
static atomic_uint top;     /* low byte: index, the rest: how often it changed */

static void push(unsigned n) {
    unsigned old = atomic_load(&top);
    do {
        pool[n].next = old & 255u;
    } while (!atomic_compare_exchange_strong(&top, &old, ((old >> 8) + 1) << 8 | n));
}

static unsigned pop(void) {
    unsigned old = atomic_load(&top);
    while ((old & 255u) != NONE) {
        unsigned next = pool[old & 255u].next;
        if (atomic_compare_exchange_strong(&top, &old, ((old >> 8) + 1) << 8 | next))
            return old & 255u;
    }
    return NONE;
}

static void take(unsigned n) {
    if (n != NONE) {
        assert(!pool[n].taken);
        pool[n].taken = 1;
    }
}

static void *popper(void *arg) {
    (void)arg;
    unsigned n = pop();
    take(n);
    if (n != NONE)
        take(pop());
    return NULL;
}

static void *recycler(void *arg) {
    (void)arg;
    unsigned a = pop();
    take(pop());
    if (a != NONE)
        push(a);
    return NULL;
}

int main(void) {
    pthread_t x, y;
    push(2);
    push(1);
    pthread_create(&x, NULL, popper, NULL);
    pthread_create(&y, NULL, recycler, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    return 0;
}
