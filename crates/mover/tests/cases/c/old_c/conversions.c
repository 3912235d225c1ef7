// expect: unsafe unreach-call
// message: assertion violated: sum != 3
// gcc compiles all of this with warnings: no declarations, no types, numbers as pointers.
#include <assert.h>
#include <pthread.h>
sum;

add(a, b) int a; {
    return a + b;
}

void worker(void *arg) {
    sum = add(arg, 2);
}

main() {
    pthread_t t;
    pthread_create(&t, 0, worker, 1);
    pthread_join(t, 0);
    assert(sum == 3);
    int *p = 0;
    p = 5;
    later(p);
    assert(sum != 3);
}

int later(int *p) {
    return p == 5;
}
