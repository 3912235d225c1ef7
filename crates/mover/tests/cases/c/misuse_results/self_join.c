// expect: unsafe unreach-call
// A thread that joins itself is told EDEADLK.
// options: --property unreach-call
// engines: all
#include <assert.h>
#include <pthread.h>
int main(void) { assert(pthread_join(pthread_self(), 0) == 0); }
