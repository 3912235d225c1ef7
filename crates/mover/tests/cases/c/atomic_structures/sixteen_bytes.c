// expect: safe
// Loads, stores and exchanges of a structure of 16 bytes are atomic.
// engines: explicit/none,static,phase,dynamic
// expect: unsafe unreach-call
// A structure that is not atomic tears.
// options: -DTORN
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct pair {
    long a, b;
};
#ifdef TORN
struct pair shared;
#else
_Atomic struct pair shared;
#endif

static void *run(void *unused) {
    struct pair one = {1, 1};
#ifdef TORN
    shared = one;
#else
    atomic_store(&shared, one);
#endif
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
#ifdef TORN
    struct pair seen = shared;
#else
    struct pair seen = atomic_load(&shared);
#endif
    assert(seen.a == seen.b);
    pthread_join(thread, 0);
#ifndef TORN
    struct pair two = {2, 3};
    struct pair old = atomic_exchange(&shared, two);
    assert(old.a == 1 && old.b == 1);
    seen = atomic_load(&shared);
    assert(seen.a == 2 && seen.b == 3);
#endif
    return 0;
}
