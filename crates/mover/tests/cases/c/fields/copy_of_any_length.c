// expect: unsafe unreach-call
// A copy of ints is seen half done, whether its length is constant or not.
// options: --property unreach-call
// engines: explicit bmc/none
// expect: unsafe unreach-call
// options: --property unreach-call -DCONSTANT
// engines: explicit bmc/none
#include <assert.h>
#include <pthread.h>
#include <string.h>
static int to[2], from[2] = { 1, 1 };
static void *copy(void *a) {
#ifdef CONSTANT
    memcpy(to, from, 8);
#else
    memcpy(to, from, (unsigned long)a * 4);
#endif
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, copy, (void *)2);
    int first = to[0];
    int second = to[1];
    assert(!(first == 1 && second == 0));
    pthread_join(t, 0);
}
