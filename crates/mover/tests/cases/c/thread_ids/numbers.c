// expect: unsafe unreach-call
// Compared as numbers: the identifier of a joined thread may be given to the next one, and is in glibc.
// expect: unsafe unreach-call
// It need not be.
// options: -DSAME
// expect: safe
// Threads that have not been joined have different identifiers.
// options: -DBOTH
// expect: safe
// 0 is no thread's.
// options: -DNONE
#include <assert.h>
#include <pthread.h>
static pthread_t owner;
static void *f(void *a) {
#ifdef NONE
    assert(owner != pthread_self());
#endif
    return a;
}
int main(void) {
    pthread_t t, u;
    owner = pthread_self();
    owner = 0;
    pthread_create(&t, 0, f, 0);
#ifdef BOTH
    pthread_create(&u, 0, f, 0);
    assert(t != u);
    pthread_join(t, 0);
#elif defined NONE
    pthread_join(t, 0);
    pthread_create(&u, 0, f, 0);
#elif defined SAME
    pthread_join(t, 0);
    pthread_create(&u, 0, f, 0);
    assert(t == u);
#else
    pthread_join(t, 0);
    pthread_create(&u, 0, f, 0);
    assert(t != u);
#endif
    pthread_join(u, 0);
    return 0;
}
