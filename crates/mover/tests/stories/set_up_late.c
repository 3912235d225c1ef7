/* A thread sets up a mutex that is in use already. */
#include <pthread.h>

static pthread_mutex_t m;
static int x;

static void *late(void *arg) {
    pthread_mutex_init(&m, NULL);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, late, NULL);
    pthread_mutex_lock(&m);
    ++x;
    pthread_mutex_unlock(&m);
    return 0;
}
