// expect: unsafe memory-safety
// A thread that goes wrong after the last step of another and before the process exits.
// engines: explicit/none,static,phase,dynamic bmc/none,dynamic ic3/none,dynamic
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int *g;

void *t(void *a) {
    *g = 1;
    return 0;
}

int main(void) {
    pthread_t p;
    g = malloc(4);
    pthread_create(&p, 0, t, 0);
    free(g);
    return 0;
}
