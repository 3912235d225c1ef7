// expect: safe
// Handlers run where the thread exits, the last one first, also those of callers.
// engines: explicit/none,static,phase,dynamic bmc
// expect: unsafe unreach-call
// options: -DWRONG
#include <assert.h>
#include <pthread.h>

int order[4], n;

static void note(void *number) { order[n++] = (int)(long)number; }

static void callee(void) {
    pthread_cleanup_push(note, (void *)3);
    pthread_exit((void *)9);
    pthread_cleanup_pop(0);
}

static void *run(void *argument) {
    pthread_cleanup_push(note, (void *)1);
    pthread_cleanup_push(note, (void *)2);
    pthread_cleanup_push(note, (void *)4);
    pthread_cleanup_pop(1);
    if (argument)
        callee();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return 0;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, run, &n);
    pthread_join(thread, &result);
    assert(result == (void *)9 && n == 4);
    assert(order[0] == 4 && order[1] == 3 && order[2] == 2);
#ifdef WRONG
    assert(order[3] == 0);
#else
    assert(order[3] == 1);
#endif
    return 0;
}
