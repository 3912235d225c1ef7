// expect: error C012
// The second parameter has no value.
// message: second parameter
#include <assert.h>
#include <pthread.h>
static void *f(void *a, int i) { assert(a == 0); assert(i != 7); return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, (void *(*)(void *))f, 0);
    pthread_join(t, 0);
}
