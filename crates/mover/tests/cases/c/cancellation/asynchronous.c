// expect: error C010
// message: asynchronous cancellation
// expect: safe
// Nobody is cancelled.
// options: -DQUIET
#include <pthread.h>

static void *run(void *unused) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
#ifndef QUIET
    pthread_cancel(thread);
#endif
    pthread_join(thread, 0);
    return 0;
}
