// expect: safe
// Both words are compared and exchanged at once: no increment is lost.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe unreach-call
// options: -DSTORE
// expect: unsafe unreach-call
// A weak one may fail.
// options: -DWEAK
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct counted {
    long value, version;
};
_Atomic struct counted shared;

static void increment(void) {
    struct counted old = atomic_load(&shared), new;
#ifdef STORE
    new.value = old.value + 1;
    new.version = old.version + 1;
    atomic_store(&shared, new);
#else
    do {
        new.value = old.value + 1;
        new.version = old.version + 1;
    } while (!atomic_compare_exchange_strong(&shared, &old, new));
#endif
}

static void *run(void *unused) {
    increment();
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    increment();
    pthread_join(thread, 0);
    struct counted last = atomic_load(&shared), other = {0, 2}, next = {9, 9};
    assert(last.value == 2 && last.version == 2);
    assert(!atomic_compare_exchange_strong(&shared, &other, next));
    assert(other.value == 2 && other.version == 2);
#ifdef WEAK
    assert(atomic_compare_exchange_weak(&shared, &other, next));
#else
    assert(atomic_compare_exchange_strong(&shared, &other, next));
#endif
    return 0;
}
