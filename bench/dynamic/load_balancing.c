/* Load balancing (Günther et al. 2017, Figure 6): each of N threads counts its own cell up
 * to LIMIT; which cell belongs to which thread is decided at run time. That the sum
 * is right is checked part by part, by the threads themselves. */
#include <pthread.h>
#include <assert.h>

#ifndef N
#define N 2
#endif
#ifndef LIMIT
#define LIMIT 1024
#endif

extern _Bool __VERIFIER_nondet_bool(void);

int cells[N];

void *worker(void *arg) {
    int *p = arg;
    while (*p < LIMIT)
        (*p)++;
    assert(*p == LIMIT);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    _Bool turned = __VERIFIER_nondet_bool();
    for (int i = 0; i < N; i++) {
        int cell = turned ? N - 1 - i : i;
        pthread_create(&threads[i], 0, worker, &cells[cell]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
