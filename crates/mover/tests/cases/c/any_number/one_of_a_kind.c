// expect: safe
// One writer does not race with itself.
// options: --property no-data-race
//
// expect: unknown
// Several writers do: accesses that cannot race with one thread count with many.
// options: --property no-data-race --threads any
#include <pthread.h>

int shared;

void *writer(void *unused) {
    shared = 1;
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    pthread_join(thread, 0);
    return 0;
}
