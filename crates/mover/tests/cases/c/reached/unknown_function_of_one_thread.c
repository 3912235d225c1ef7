// expect: error C011
// message: `step` has no body
// message: unknown_function_of_one_thread.c:13
// message: --havoc-externals
// engines: auto explicit/none,dynamic bmc ic3
// expect: safe
// options: --havoc-externals
#include <pthread.h>
void step(void);
_Atomic int turn;

static void *other(void *arg) {
    if (turn) step();
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, other, 0);
    turn = 1;
    pthread_join(t, 0);
    return 0;
}
