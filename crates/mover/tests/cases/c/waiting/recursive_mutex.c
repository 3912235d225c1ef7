// expect: safe
// Waiting unlocks a recursive mutex once, as the C library does.
// options: -DTIMES=1
// engines: explicit/none,dynamic
// expect: safe
// options: -DTIMES=1 --no-spurious-wakeups
// engines: bmc/none
// expect: unsafe no-deadlock
// options: -DTIMES=2
// engines: explicit/none,dynamic bmc/none
#include <pthread.h>

pthread_mutex_t m;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int ready;

void *set(void *a) {
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_mutexattr_t k;
    pthread_mutexattr_init(&k);
    pthread_mutexattr_settype(&k, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &k);
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    for (int i = 0; i < TIMES; i++) pthread_mutex_lock(&m);
    while (!ready) pthread_cond_wait(&c, &m);
    for (int i = 0; i < TIMES; i++) pthread_mutex_unlock(&m);
    pthread_join(t, 0);
}
