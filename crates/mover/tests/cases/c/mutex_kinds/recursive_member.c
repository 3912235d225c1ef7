// expect: safe
// A recursive mutex can be locked twice.
// options: --property unreach-call --property no-deadlock
// engines: all
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct box { int n; pthread_mutex_t m; };
int main(void) {
    struct box b = { 1, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };
    int first = pthread_mutex_lock(&b.m);
    int second = pthread_mutex_lock(&b.m);
    assert(first == 0 && second == 0);
}
