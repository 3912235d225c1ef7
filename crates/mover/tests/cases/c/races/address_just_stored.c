// expect: unsafe no-data-race
// The address of the second write comes from a store just before it, at an index that is any.
// message: data race on x
// expect: safe
// The proof of another property says that it relies on the absence of races.
// options: --property unreach-call
// message: checked under sequential consistency, which a program with a data race does not have
#include <pthread.h>

extern unsigned __VERIFIER_nondet_uint(void);
int x, y;

void *writer(void *arg) {
    x = 1;
    return arg;
}

int main(void) {
    pthread_t t;
    int *places[2];
    unsigned i = __VERIFIER_nondet_uint() & 1, j = __VERIFIER_nondet_uint() & 1;
    pthread_create(&t, 0, writer, 0);
    places[0] = &y;
    places[1] = &y;
    places[i] = &x;
    *places[j] = 2;
    pthread_join(t, 0);
    return 0;
}
