/* Double-checked locking that publishes the object before it is filled in.
 * expect: unsafe unreach-call
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct config {
    int size, mode;
};

static struct config *volatile instance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *get(void) {
    if (!instance) {
        pthread_mutex_lock(&lock);
        if (!instance) {
            instance = calloc(1, sizeof *instance);
            instance->size = 7;
            instance->mode = 3;
        }
        pthread_mutex_unlock(&lock);
    }
    return instance;
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
