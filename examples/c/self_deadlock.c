/* A plain mutex that its owner takes again.
 * expect: unsafe no-deadlock
 */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void helper(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    pthread_mutex_lock(&lock);
    helper();
    pthread_mutex_unlock(&lock);
    return 0;
}
