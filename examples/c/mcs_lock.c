/* The queue lock of Mellor-Crummey and Scott: each thread spins on its own node.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int locked;
};

static _Atomic(struct node *) tail;
static int inside;

static void acquire(struct node *me) {
    atomic_store(&me->next, NULL);
    atomic_store(&me->locked, 1);
    struct node *before = atomic_exchange(&tail, me);
    if (before) {
        atomic_store(&before->next, me);
        while (atomic_load(&me->locked))
            ;
    }
}

static void release(struct node *me) {
    if (!atomic_load(&me->next)) {
        struct node *expected = me;
        if (atomic_compare_exchange_strong(&tail, &expected, NULL))
            return;
        while (!atomic_load(&me->next))
            ;
    }
    atomic_store(&atomic_load(&me->next)->locked, 0);
}

static void *thread(void *arg) {
    struct node me;
    (void)arg;
    acquire(&me);
    inside++;
    assert(inside == 1);
    inside--;
    release(&me);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
