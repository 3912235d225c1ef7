// expect: unsafe unreach-call
// Destroying a locked mutex fails with EBUSY.
// options: --property unreach-call
// engines: all
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&m);
    assert(pthread_mutex_destroy(&m) == 0);
}
