/* An object that is freed by whoever gives the last reference back.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int value;
};

static void drop(struct object *o) {
    if (atomic_fetch_sub(&o->references, 1) == 1)
        free(o);
}

static void *user(void *arg) {
    struct object *o = arg;
    assert(o->value == 5);
    drop(o);
    return NULL;
}

int main(void) {
    struct object *o = malloc(sizeof *o);
    atomic_init(&o->references, 3);
    o->value = 5;
    pthread_t a, b;
    pthread_create(&a, NULL, user, o);
    pthread_create(&b, NULL, user, o);
    assert(o->value == 5);
    drop(o);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
