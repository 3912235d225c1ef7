// expect: unsafe unreach-call
// The second lock fails with EDEADLK.
// options: --property unreach-call
// engines: all
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int main(void) {
    pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    int first = pthread_mutex_lock(&m);
    int second = pthread_mutex_lock(&m);
    assert(first == 0 && second == 0);
}
