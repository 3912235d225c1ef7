// expect: safe
// What nobody reads costs nothing: neither a variable that is set before it is read, nor the
// result of a thread that nobody asks for.
// without: uninitialised
// engines: explicit auto
#include <assert.h>
#include <pthread.h>
static void *f(void *a) { (void)a; }
int main(void) {
    int x, y;
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    x = 3;
    y = x;
    assert(y == 3);
    pthread_join(t, 0);
}
