/* plan: each thread counts what it was handed, which is decided at run time; main reads after the joins */
#include <assert.h>
#include <pthread.h>

int __VERIFIER_nondet_int(void);
int x, y;

void *count(void *arg) {
    int *p = arg;
    while (*p < 2)
        (*p)++;
    return 0;
}

int main(void) {
    pthread_t t, u;
    int *first = &x, *second = &y;
    if (__VERIFIER_nondet_int() == 0) {
        first = &y;
        second = &x;
    }
    pthread_create(&t, 0, count, first);
    pthread_create(&u, 0, count, second);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(x + y == 4);
    return 0;
}
