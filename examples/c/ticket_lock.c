/* A ticket lock with C11 atomics.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct ticket_lock {
    atomic_uint next, serving;
};

static struct ticket_lock lock;
static int shared;

static void acquire(struct ticket_lock *l) {
    unsigned mine = atomic_fetch_add(&l->next, 1);
    while (atomic_load(&l->serving) != mine)
        ;
}

static void release(struct ticket_lock *l) { atomic_fetch_add(&l->serving, 1); }

static void *thread(void *arg) {
    int id = (int)(long)arg;
    for (int i = 0; i < 2; i++) {
        acquire(&lock);
        shared = id;
        assert(shared == id);
        release(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, (void *)1);
    pthread_create(&b, NULL, thread, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
