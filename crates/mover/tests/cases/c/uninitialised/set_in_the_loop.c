// expect: safe
// engines: explicit/none,dynamic
// `seen` is set in the first round, which is entered because `done` is 0.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

_Atomic long level;

void *add(void *unused) {
    long seen;
    int done = 0;
    while (!done) {
        seen = atomic_load(&level);
        done = atomic_compare_exchange_strong(&level, &seen, seen + 1);
    }
    assert(seen < 2);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    assert(level == 2);
    return 0;
}
