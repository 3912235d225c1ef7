/* Treiber's stack that frees nodes and gets them again: the ABA problem.
 * A popper reads the top and its successor; meanwhile another pops both and
 * pushes the first one back. Nodes come from a pool, so the address is the same.
 * The fields are atomic, so the problem is no data race.
 * expect: unsafe unreach-call
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *_Atomic next;
    _Atomic int taken;
};

static struct node pool[2];
static _Atomic(struct node *) top;

static void push(struct node *n) {
    struct node *old = atomic_load(&top);
    do {
        n->next = old;
    } while (!atomic_compare_exchange_strong(&top, &old, n));
}

static struct node *pop(void) {
    struct node *old = atomic_load(&top);
    while (old) {
        struct node *next = old->next;
        if (atomic_compare_exchange_strong(&top, &old, next))
            return old;
    }
    return NULL;
}

static void *popper(void *arg) {
    (void)arg;
    struct node *n = pop();
    if (n) {
        assert(!n->taken);
        n->taken = 1;
        n = pop();
        if (n) {
            assert(!n->taken);
            n->taken = 1;
        }
    }
    return NULL;
}

static void *recycler(void *arg) {
    (void)arg;
    struct node *a = pop();
    struct node *b = pop();
    if (b) {
        assert(!b->taken);
        b->taken = 1;
    }
    if (a)
        push(a);
    return NULL;
}

int main(void) {
    pthread_t x, y;
    push(&pool[1]);
    push(&pool[0]);
    pthread_create(&x, NULL, popper, NULL);
    pthread_create(&y, NULL, recycler, NULL);
    pthread_join(x, NULL);
    pthread_join(y, NULL);
    return 0;
}
