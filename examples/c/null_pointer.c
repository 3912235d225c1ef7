/* A pointer that is set by one thread and used by another too early.
 * expect: unsafe memory-safety
 */
#include <pthread.h>

static int value = 4;
static int *volatile published;

static void *user(void *arg) {
    *published = 5;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, user, NULL);
    published = &value;
    pthread_join(t, NULL);
    return 0;
}
