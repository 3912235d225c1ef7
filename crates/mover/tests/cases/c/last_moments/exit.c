// expect: unsafe unreach-call
// A thread that goes wrong after the last step of another and before the process exits.
// options: --property unreach-call
// engines: explicit/none,static,phase,dynamic bmc/none,dynamic ic3/none,dynamic token
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int data, ready;

void *t(void *a) {
    if (ready) assert(data != 42);
    return 0;
}

int main(void) {
    pthread_t p;
    pthread_create(&p, 0, t, 0);
    data = 42;
    ready = 1;
    exit(0);
}
