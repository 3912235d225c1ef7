// expect: unsafe unreach-call
// A thread that goes wrong after the last step of another and before the process exits.
// options: --property unreach-call
// engines: explicit/none,static,phase,dynamic bmc/none,dynamic ic3/none,dynamic token
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int x;
extern void __VERIFIER_assume(int);

void *t(void *a) {
    assert(x == 0);
    return 0;
}

int main(void) {
    pthread_t p;
    pthread_create(&p, 0, t, 0);
    x = 1;
    __VERIFIER_assume(0);
}
