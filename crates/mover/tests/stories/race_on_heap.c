/* One thread updates under the lock, the other without. */
#include <pthread.h>
#include <stdlib.h>

struct counter {
    pthread_mutex_t lock;
    int hits;
};

static void *careful(void *arg) {
    struct counter *counter = arg;
    pthread_mutex_lock(&counter->lock);
    counter->hits++;
    pthread_mutex_unlock(&counter->lock);
    return NULL;
}

static void *careless(void *arg) {
    struct counter *counter = arg;
    counter->hits++;
    return NULL;
}

int main(void) {
    struct counter *counter = malloc(sizeof *counter);
    pthread_t a, b;
    pthread_mutex_init(&counter->lock, NULL);
    counter->hits = 0;
    pthread_create(&a, NULL, careful, counter);
    pthread_create(&b, NULL, careless, counter);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(counter);
    return 0;
}
