// expect: safe
// What the verdict does not cover is said: plain accesses race, so they may be reordered.
// options: --property unreach-call
// message: checked under sequential consistency, which a program with a data race does not have
// expect: safe
// A lock orders them, so there is nothing to say.
// options: --property unreach-call -DLOCKED
// without: sequential consistency
// expect: safe
// Neither where a join does, which no lock set shows.
// options: --property unreach-call -DJOINED
// without: sequential consistency
#include <assert.h>
#include <pthread.h>
static int x, y, a, b;
#ifdef LOCKED
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define GUARDED(does) (pthread_mutex_lock(&m), (does), pthread_mutex_unlock(&m))
#else
#define GUARDED(does) (does)
#endif
static void *f(void *p) { GUARDED(x = 1); GUARDED(a = y); return p; }
static void *g(void *p) { GUARDED(y = 1); GUARDED(b = x); return p; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
#ifdef JOINED
    pthread_join(t, 0);
    pthread_create(&u, 0, g, 0);
#else
    pthread_create(&u, 0, g, 0);
    pthread_join(t, 0);
#endif
    pthread_join(u, 0);
    assert(a == 1 || b == 1);
}
