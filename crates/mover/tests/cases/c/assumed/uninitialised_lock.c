// expect: safe
// A mutex on the heap that nobody initialised.
// message: uninitialised memory is assumed to be zero
#include <pthread.h>
#include <stdlib.h>
int main(void) {
    pthread_mutex_t *m = malloc(sizeof *m);
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    free(m);
}
