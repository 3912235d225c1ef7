// expect: error C012
// message: between `pthread_cleanup_push` and `pthread_cleanup_pop`
// expect: safe
// options: -DNOT_REACHED
#include <pthread.h>

int wanted;

static void nothing(void *unused) {}

static void leave(void) {
    pthread_cleanup_push(nothing, 0);
#ifdef NOT_REACHED
    if (wanted)
#endif
        return;
    pthread_cleanup_pop(1);
}

int main(void) {
    leave();
    return 0;
}
