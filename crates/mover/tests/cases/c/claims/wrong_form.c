// expect: error C016
// A claim that cannot be used is refused with its line.
// message: not a claim of exclusive access
// message: wrong_form.c:10
#include <assert.h>
#include <pthread.h>
#define MOVER_EXCLUSIVE(variable, condition)
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int x;
MOVER_EXCLUSIVE(x, m)

void *run(void *arg) {
    while (pthread_mutex_trylock(&m));
    x++;
    assert(x == 1);
    x--;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, run, 0);
    pthread_create(&b, 0, run, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
}
