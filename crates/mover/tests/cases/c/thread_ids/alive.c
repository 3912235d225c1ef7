// expect: safe
// Threads that have not been joined have different identifiers.
// engines: all
#include <assert.h>
#include <pthread.h>
static pthread_t t, u;
static void *f(void *a) {
    assert(!pthread_equal(pthread_self(), t));
    return a;
}
static void *g(void *a) { return a; }
int main(void) {
    pthread_create(&t, 0, g, 0);
    pthread_create(&u, 0, f, 0);
    assert(!pthread_equal(t, u));
    assert(pthread_equal(t, t));
    pthread_join(u, 0);
    pthread_join(t, 0);
}
