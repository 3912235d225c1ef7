// expect: unsafe unreach-call
// The writer that asks for a read lock is told EDEADLK.
// options: --property unreach-call
// engines: all
// expect: unsafe no-deadlock
// POSIX allows it to block, too.
// options: --property unreach-call --property no-deadlock
#include <assert.h>
#include <pthread.h>
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int main(void) {
    pthread_rwlock_wrlock(&l);
    int second = pthread_rwlock_rdlock(&l);
    assert(second == 0);
    assert(second != 0);
}
