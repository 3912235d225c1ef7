/* A counter that can leave the range of its type.
 * options: --property no-overflow
 * expect: unsafe no-overflow
 */
#include <limits.h>
#include <pthread.h>

static int level = INT_MAX - 1;

static void *raise(void *arg) {
    level++;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, raise, NULL);
    pthread_create(&b, NULL, raise, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
