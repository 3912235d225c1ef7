// expect: unsafe mutex-misuse
// message: a thread that does not exist any more is cancelled
// expect: safe
// options: -DEARLY
// A request to a thread that has ended, and was not joined, does nothing.
#include <pthread.h>

static void *run(void *unused) { return 0; }

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
#ifdef EARLY
    pthread_cancel(thread);
#endif
    pthread_join(thread, 0);
#ifndef EARLY
    pthread_cancel(thread);
#endif
    return 0;
}
