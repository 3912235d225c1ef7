// expect: unsafe no-data-race
// Each thread is in the middle of its transaction when it makes its access: it holds a lock of its own.
// options: --property no-data-race
// engines: explicit/none,static,phase,dynamic
// message: holding m
// message: holding n
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;

void *one(void *arg) {
    pthread_mutex_lock(&m);
    y = 1;
    x = 1;
    pthread_mutex_unlock(&m);
    return 0;
}

void *two(void *arg) {
    pthread_mutex_lock(&n);
    x = 2;
    pthread_mutex_unlock(&n);
    return 0;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
