// expect: safe
// without: no run starts a thread
#include <pthread.h>
_Bool __VERIFIER_nondet_bool(void);
static void *worker(void *arg) {
    return arg;
}

int main(void) {
    if (__VERIFIER_nondet_bool())
        return 0;
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
