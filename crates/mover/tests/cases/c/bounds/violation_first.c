// expect: unsafe unreach-call
// A violation wins over a bound: a thread that is about to meet a bound does not hide from
// others what it has done before.
// options: --recursion 3 --property unreach-call
// engines: explicit,bmc,ic3/none,static,dynamic
#include <assert.h>
#include <pthread.h>

int x;

static int deep(int n) {
    return n == 0 ? 0 : 1 + deep(n - 1);
}

static void *doomed(void *arg) {
    x = 1;
    deep(9);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, doomed, NULL);
    assert(x == 0);
    return 0;
}
