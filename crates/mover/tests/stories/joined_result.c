/* The result of a thread that came too late is used without a look. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int value = 7;
static _Atomic(int *) head;

static void *push(void *arg) {
    atomic_store(&head, &value);
    return arg;
}

static void *pop(void *arg) {
    (void)arg;
    return atomic_load(&head);
}

int main(void) {
    pthread_t a, b;
    void *found;
    pthread_create(&a, NULL, push, NULL);
    pthread_create(&b, NULL, pop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, &found);
    assert(found != NULL);
    return 0;
}
