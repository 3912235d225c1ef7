// expect: unknown
// A bound that is not met does not matter. `safe` needs no second search, and is certified: no
// state of the definition meets a bound.
// options: --recursion 2
// engines: explicit bmc ic3
// message: `deep` recurses more than 2 deep
// message: no violation in the runs that stay within this bound
// expect: safe
// options: --recursion 3 --certify
// engines: explicit bmc ic3
// message: of the reference semantics, without reduction, found no violation
#include <assert.h>
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static int deep(int n) {
    return n == 0 ? 0 : 1 + deep(n - 1);
}

static void *work(void *arg) {
    pthread_mutex_lock(&m);
    x += deep(2);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(0);
    pthread_join(t, NULL);
    assert(x == 4);
}
