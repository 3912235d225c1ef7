// expect: safe
// Variables of blocks live in their blocks.
// options: --property memory-cleanup --property unreach-call --property memory-safety
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int l;
int n;

void *add(void *a) {
    int e = 0;
    while (!atomic_compare_exchange_weak(&l, &e, 1)) e = 0;
    n++;
    l = 0;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
}
