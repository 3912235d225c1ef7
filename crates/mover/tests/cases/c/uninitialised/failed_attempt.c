// expect: safe
// engines: explicit/none,dynamic
// Where the attempt fails, `got` is not set, and nobody reads it. Explicit search has no value to choose.
// expect: unsafe unreach-call
// options: -DCARELESS
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Atomic int level;
int items[4] = {5, 5, 5, 5};

static int take(int *out) {
    int there = atomic_load(&level);
    if (there == 0) return -1;
    if (!atomic_compare_exchange_strong(&level, &there, there - 1)) return -2;
    *out = items[there - 1];
    return 0;
}

void *taker(void *unused) {
    int got, sum = 0;
    for (int i = 0; i < 2; i++) {
#ifdef CARELESS
        if (take(&got) >= -1) sum += got;
#else
        if (take(&got) >= 0) sum += got;
#endif
    }
    assert(sum == 0 || sum == 5 || sum == 10);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, taker, 0);
    atomic_store(&level, 1);
    pthread_join(t, 0);
    return 0;
}
