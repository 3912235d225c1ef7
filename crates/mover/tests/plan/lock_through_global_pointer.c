/* plan: the lock that a global pointer points to protects a variable, once the pointer no longer changes */
#include <assert.h>
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);

pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
pthread_mutex_t *lock;
int x, y;

void *worker(void *arg) {
    pthread_mutex_lock(lock);
    x = 1;
    y = 1;
    assert(x == y);
    pthread_mutex_unlock(lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    lock = &locks[__VERIFIER_nondet_uint() % 2];
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
