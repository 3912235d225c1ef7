// expect: safe
// Each thread uses a slot that it has reserved.
// options: --property unreach-call
// engines: auto modular
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int reserved[2];
int slot[2];

void *worker(void *arg) {
    for (int i = 0; i < 2; i++) {
        int nobody = 0;
        if (atomic_compare_exchange_strong(&reserved[i], &nobody, 1)) {
            slot[i] = 1;
            assert(slot[i] == 1);
            slot[i] = 0;
            atomic_store(&reserved[i], 0);
            return 0;
        }
    }
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
