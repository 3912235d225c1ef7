/* Double-checked locking: the object is published after it is complete.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int size, mode;
};

static _Atomic(struct config *) instance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *get(void) {
    struct config *found = atomic_load(&instance);
    if (!found) {
        pthread_mutex_lock(&lock);
        found = atomic_load(&instance);
        if (!found) {
            found = malloc(sizeof *found);
            found->size = 7;
            found->mode = 3;
            atomic_store(&instance, found);
        }
        pthread_mutex_unlock(&lock);
    }
    return found;
}

static void *user(void *arg) {
    (void)arg;
    struct config *c = get();
    assert(c->size == 7 && c->mode == 3);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
