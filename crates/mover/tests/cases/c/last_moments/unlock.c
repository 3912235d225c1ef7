// expect: unsafe unreach-call
// A thread that goes wrong after the last step of another and before the process exits.
// engines: explicit/none,static,phase,dynamic bmc/none,dynamic ic3/none,dynamic token
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *t(void *a) {
    pthread_mutex_lock(&m);
    assert(0);
    return 0;
}

int main(void) {
    pthread_t p;
    pthread_mutex_lock(&m);
    pthread_create(&p, 0, t, 0);
    pthread_mutex_unlock(&m);
    return 0;
}
