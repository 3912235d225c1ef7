/* Dynamic locking (Günther et al. 2017, Section 6): N threads access two global variables under one
 * lock, which is picked from a set of locks at the beginning of the program. Each thread writes its
 * value four times to both. After all threads have finished, the variables are equal.
 * With -DOWN_CHECKS each thread compares them before it releases the lock, instead of main. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif
#define LOCKS 4

extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);

pthread_mutex_t locks[LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
pthread_mutex_t *lock;
int x, y;

void *worker(void *arg) {
    int value = (int)(long)arg;
    pthread_mutex_lock(lock);
    for (int i = 0; i < 4; i++) {
        x = value;
        y = value;
    }
#ifdef OWN_CHECKS
    assert(x == y);
#endif
    pthread_mutex_unlock(lock);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    unsigned picked = __VERIFIER_nondet_uint();
    __VERIFIER_assume(picked < LOCKS);
    lock = &locks[picked];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, (void *)(i + 1));
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
#ifndef OWN_CHECKS
    assert(x == y);
#endif
    return 0;
}
