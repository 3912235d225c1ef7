// expect: safe
// Calls of the library say why they fail.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

pthread_barrier_t b;

int main(void) {
    assert(pthread_barrier_init(&b, 0, 0) == EINVAL);
    assert(pthread_barrier_init(&b, 0, 1) == 0 && pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);
}
