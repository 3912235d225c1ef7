/* Dynamic locking (Günther et al. 2017, Section 6): N threads protect two variables by one
 * lock, which is picked from several when the program starts. That both have the
 * same value is checked before the lock is given back. */
#include <pthread.h>
#include <assert.h>

#ifndef N
#define N 2
#endif

extern _Bool __VERIFIER_nondet_bool(void);

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
int x, y;

void *worker(void *arg) {
    pthread_mutex_t *lock = arg;
    pthread_mutex_lock(lock);
    x = 1; y = 1;
    x = 2; y = 2;
    x = 3; y = 3;
    x = 4; y = 4;
    assert(x == y);
    pthread_mutex_unlock(lock);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    pthread_mutex_t *lock = __VERIFIER_nondet_bool() ? &first : &second;
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, lock);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
