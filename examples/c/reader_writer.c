/* A read-write lock: readers together, writers alone.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int a, b;

static void *writer(void *arg) {
    (void)arg;
    pthread_rwlock_wrlock(&lock);
    a++;
    b++;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *reader(void *arg) {
    (void)arg;
    if (pthread_rwlock_tryrdlock(&lock) != 0)
        pthread_rwlock_rdlock(&lock);
    assert(a == b);
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t w1, w2, r;
    pthread_create(&w1, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_create(&w2, NULL, writer, NULL);
    pthread_join(w1, NULL);
    pthread_join(w2, NULL);
    pthread_join(r, NULL);
    pthread_rwlock_destroy(&lock);
    return 0;
}
