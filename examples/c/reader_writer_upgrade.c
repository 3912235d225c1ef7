/* Two readers who both want to become writers wait for each other.
 * expect: unsafe no-deadlock
 */
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *upgrade(void *arg) {
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    if (value == 0) {
        pthread_rwlock_wrlock(&lock);
        value = 1;
        pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, upgrade, NULL);
    pthread_create(&b, NULL, upgrade, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
