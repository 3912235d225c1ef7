// expect: unknown
// What the C library does then is not what the translation would do.
// options: --property no-deadlock
// engines: explicit bmc ic3 token
// message: a thread exits while holding a lock
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void *f(void *a) {
    pthread_mutex_lock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    for (int i = 0; i < 2; i++) {
        pthread_create(&t, 0, f, 0);
        pthread_join(t, 0);
    }
}
