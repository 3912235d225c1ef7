// expect: unsafe no-deadlock
// options: --property no-deadlock
// engines: explicit/none,static,phase,dynamic
// Where an assumption can fail, a run can end; where two mutexes are waited for, it cannot. The deadlock is behind a lock by
// assumption.
#include <pthread.h>

extern void __VERIFIER_assume(int);

int mutex, n;
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

void __VERIFIER_atomic_acquire(void) {
    __VERIFIER_assume(mutex == 0);
    mutex = 1;
}

void __VERIFIER_atomic_release(void) {
    mutex = 0;
}

void use(pthread_mutex_t *first, pthread_mutex_t *second) {
    __VERIFIER_atomic_acquire();
    n++;
    __VERIFIER_atomic_release();
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

void *work(void *arg) {
    use(&b, &a);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    use(&a, &b);
    pthread_join(t, NULL);
    return 0;
}
