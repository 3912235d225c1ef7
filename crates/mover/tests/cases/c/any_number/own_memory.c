// expect: unknown
// With one thread the variable has a place of its own. With several, each has its own: taking it for
// one variable would be wrong, so the program is refused.
// options: --property unreach-call --threads any
// message: any number of threads
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Atomic(int *) published;

void *worker(void *unused) {
    int mine = 1;
    int *expected = 0;
    if (!atomic_compare_exchange_strong(&published, &expected, &mine))
        *expected = 2;
    assert(mine == 1);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
