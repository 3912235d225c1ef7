// expect: safe
// options: --property unreach-call
// engines: explicit/none,static,phase,dynamic bmc/phase ic3/dynamic
// reduces: 4
// A failed assumption ends the run, so nobody observes that it has read the lock.
#include <pthread.h>

extern void __VERIFIER_assume(int);
extern void reach_error(void);

int mutex, n;

void __VERIFIER_atomic_acquire(void) {
    __VERIFIER_assume(mutex == 0);
    mutex = 1;
}

void __VERIFIER_atomic_release(void) {
    __VERIFIER_assume(mutex == 1);
    mutex = 0;
}

void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        __VERIFIER_atomic_acquire();
        n++;
        n++;
        if (n % 2)
            reach_error();
        __VERIFIER_atomic_release();
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
