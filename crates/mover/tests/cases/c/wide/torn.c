// expect: unsafe unreach-call
// A plain one is written in two words, between which another thread reads.
// options: --property unreach-call
// expect: safe
// An atomic one is not.
// options: --property unreach-call -DATOMIC
// expect: unsafe no-data-race
// options: --property no-data-race
#include <assert.h>
#include <pthread.h>
#ifdef ATOMIC
static _Atomic unsigned __int128 x;
#else
static unsigned __int128 x;
#endif
static void *writer(void *p) {
    x = ~(unsigned __int128)0;
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    unsigned __int128 seen = x;
    assert(seen == 0 || seen == ~(unsigned __int128)0);
    pthread_join(t, 0);
#ifdef ATOMIC
    x += 1;
    assert(x == 0);
#endif
}
