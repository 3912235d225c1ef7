// expect: safe
// A pointer and its version, exchanged at once.
#include <assert.h>
#include <pthread.h>
static unsigned __int128 top;
static void *push(void *p) {
    unsigned __int128 old, new;
    do {
        old = __sync_val_compare_and_swap(&top, 0, 0);
        new = ((old >> 64) + 1) << 64 | (unsigned long)(old + 3);
    } while (!__sync_bool_compare_and_swap(&top, old, new));
    return p;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, push, 0);
    pthread_create(&u, 0, push, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(top == ((unsigned __int128)2 << 64 | 6));
}
