// expect: unsafe unreach-call
// Access by two locks together, one of which is given back too early.
// engines: explicit/none explicit/phase explicit/dynamic bmc ic3
// message: `x` is accessed while `a == self && b[1] == self` does not hold
#include <assert.h>
#include <pthread.h>
#define MOVER_EXCLUSIVE(variable, condition)
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int x;
MOVER_EXCLUSIVE(x, a == self && b[1] == self)

void *run(void *arg) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b[1]);
    x++;
    pthread_mutex_unlock(&b[1]);
    x++;
    pthread_mutex_unlock(&a);
    return 0;
}

int main(void) {
    pthread_t t;
    x = 0;
    pthread_create(&t, 0, run, 0);
    pthread_mutex_lock(&b[0]);
    pthread_mutex_unlock(&b[0]);
    run(0);
    pthread_join(t, 0);
    assert(x >= 2);
}
