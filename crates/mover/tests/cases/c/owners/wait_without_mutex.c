// expect: unknown
// What the C library does then is not what the translation would do.
// options: --property unreach-call
// engines: explicit bmc ic3 token
// message: a thread waits for a condition without holding the mutex
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

int main(void) {
    assert(pthread_cond_wait(&c, &m) != EPERM);
}
