/* The queue lock of Craig, Landin and Hagersten: spin on the node before.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    atomic_int locked;
};

static struct node first;
static _Atomic(struct node *) tail = &first;
static int inside;

static void *thread(void *arg) {
    (void)arg;
    struct node *mine = malloc(sizeof *mine);
    atomic_store(&mine->locked, 1);
    struct node *before = atomic_exchange(&tail, mine);
    while (atomic_load(&before->locked))
        ;
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&mine->locked, 0);
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
