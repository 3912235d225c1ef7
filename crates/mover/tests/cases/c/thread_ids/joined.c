// expect: unsafe unreach-call
// The identifier of a joined thread may be given to the next one.
// engines: all
#include <assert.h>
#include <pthread.h>
static void *f(void *a) { return a; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
    pthread_join(t, 0);
    pthread_create(&u, 0, f, 0);
    assert(!pthread_equal(t, u));
    pthread_join(u, 0);
}
