// expect: unsafe unreach-call
// The machine passes the low half of the pointer.
// engines: all
#include <assert.h>
#include <pthread.h>
static void *f(int i) { assert(i != 7); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, (void *(*)(void *))f, (void *)7);
    pthread_join(t, 0);
}
