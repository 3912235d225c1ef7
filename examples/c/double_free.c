/* Both threads think that they are the last.
 * expect: unsafe memory-safety
 */
#include <pthread.h>
#include <stdlib.h>

static int *shared;

static void *cleaner(void *arg) {
    if (shared) {
        free(shared);
        shared = NULL;
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    shared = malloc(sizeof *shared);
    pthread_create(&a, NULL, cleaner, NULL);
    pthread_create(&b, NULL, cleaner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
