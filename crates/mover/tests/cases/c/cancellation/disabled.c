// expect: safe
// A thread that has disabled cancellation is not cancelled at a cancellation point.
// options: --property unreach-call --property memory-safety --property memory-cleanup
// expect: unsafe memory-cleanup
// options: --property memory-cleanup -DLEAK
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

int done;

static void *run(void *unused) {
    int old;
    assert(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    assert(old == PTHREAD_CANCEL_ENABLE);
    char *text = malloc(4);
    pthread_testcancel();
    sleep(1);
    free(text);
    done = 1;
    pthread_setcancelstate(old, 0);
#ifdef LEAK
    text = malloc(4);
    sleep(1);
    free(text);
#endif
    sleep(1);
    return 0;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, run, 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    assert(done && (result == 0 || result == PTHREAD_CANCELED));
    return 0;
}
