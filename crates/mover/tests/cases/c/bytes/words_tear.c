// expect: unsafe unreach-call
// C11 7.24.2.1: memcpy copies characters, in no order and not at once. A copy of a size that is not
// constant tears between the fields, like one of a constant size.
// options: --property unreach-call
// expect: unsafe unreach-call
// options: --property unreach-call -DMOVE
// expect: unsafe unreach-call
// options: --property unreach-call -DSET
// expect: unsafe unreach-call
// options: --property unreach-call -DCONSTANT
#include <assert.h>
#include <pthread.h>
#include <string.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);

struct pair {
    int a, b;
};
static struct pair known[1], *shared;
static volatile int n = 1;

static void *writer(void *arg) {
    struct pair p = {-1, -1};
#if defined MOVE
    memmove(shared, &p, n * sizeof p);
#elif defined SET
    memset(known, 255, n * sizeof p);
#elif defined CONSTANT
    memcpy(shared, &p, sizeof p);
#else
    memcpy(shared, &p, n * sizeof p);
#endif
    return arg;
}

int main(void) {
    pthread_t t;
    shared = known;
    pthread_create(&t, 0, writer, 0);
    __VERIFIER_atomic_begin();
    int a = shared->a, b = shared->b;
    __VERIFIER_atomic_end();
    assert(a == b);
    pthread_join(t, 0);
    return 0;
}
