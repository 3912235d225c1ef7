// expect: unsafe unreach-call
// The result of a thread that returns nothing is any value.
// engines: auto bmc
#include <assert.h>
#include <pthread.h>
static void *f(void *a) { (void)a; }
int main(void) {
    pthread_t t;
    void *r;
    pthread_create(&t, 0, f, 0);
    pthread_join(t, &r);
    assert(r == 0);
}
