// expect: unsafe unreach-call
// Printing may be a cancellation point.
// options: -DPRINTED
// expect: unsafe unreach-call
// And it may be none.
// options: -DNOT_PRINTED
// expect: safe
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

int printed;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    printf("cancelled?\n");
    printed = 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, run, 0);
    pthread_cancel(thread);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, 0);
#ifdef PRINTED
    assert(printed);
#endif
#ifdef NOT_PRINTED
    assert(!printed);
#endif
    return 0;
}
