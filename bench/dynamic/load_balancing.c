/* Load balancing (Günther et al. 2017, Figure 6): two threads count two variables up to LIMIT; which
 * variable belongs to which thread is decided at run time. main checks the sum after the joins.
 * With -DOWN_CHECKS N threads count N cells, and each checks its own cell instead of main. */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif
#ifndef LIMIT
#define LIMIT 1024
#endif

extern _Bool __VERIFIER_nondet_bool(void);

void *worker(void *arg) {
    int *p = arg;
    while (*p < LIMIT)
        (*p)++;
#ifdef OWN_CHECKS
    assert(*p == LIMIT);
#endif
    return 0;
}

#ifdef OWN_CHECKS

int cells[N];

int main(void) {
    pthread_t threads[N];
    _Bool turned = __VERIFIER_nondet_bool();
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker, &cells[turned ? N - 1 - i : i]);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}

#else

int x = 0, y = 0;
int *p1, *p2;

int main(void) {
    pthread_t t1, t2;
    if (__VERIFIER_nondet_bool()) {
        p1 = &x;
        p2 = &y;
    } else {
        p1 = &y;
        p2 = &x;
    }
    pthread_create(&t1, 0, worker, p1);
    pthread_create(&t2, 0, worker, p2);
    pthread_join(t1, 0);
    pthread_join(t2, 0);
    assert(x + y == 2 * LIMIT);
    return 0;
}

#endif
