// expect: unsafe memory-safety
// When a handler of a caller runs, the variables of the callee are gone.
// expect: safe
// options: -DOWN
#include <pthread.h>

static int *shared;

static void read_it(void *unused) { *shared = 1; }

static void callee(void) {
    int local = 0;
    shared = &local;
    pthread_exit(0);
}

static void *run(void *unused) {
    int own = 0;
    pthread_cleanup_push(read_it, 0);
#ifdef OWN
    shared = &own;
    pthread_exit(0);
#else
    callee();
#endif
    pthread_cleanup_pop(0);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 0;
}
