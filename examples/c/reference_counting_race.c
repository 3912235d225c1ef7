/* The same with a decrement that is not atomic with the test: used after free.
 * expect: unsafe memory-safety
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int value;
};

static void drop(struct object *o) {
    atomic_fetch_sub(&o->references, 1);
    if (atomic_load(&o->references) == 0)
        free(o);
}

static void *user(void *arg) {
    drop(arg);
    return NULL;
}

int main(void) {
    struct object *o = malloc(sizeof *o);
    atomic_init(&o->references, 2);
    pthread_t a, b;
    pthread_create(&a, NULL, user, o);
    pthread_create(&b, NULL, user, o);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
