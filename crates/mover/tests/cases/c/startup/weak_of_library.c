// expect: safe
// The C library defines it.
// engines: all
#include <assert.h>
#include <pthread.h>
extern __typeof(pthread_mutex_lock) pthread_mutex_lock __attribute__((weak));
int main(void) { assert(pthread_mutex_lock != 0); }
