// expect: unsafe unreach-call
// options: --property unreach-call
// engines: explicit/none,static,phase,dynamic bmc/phase
// expect: unsafe no-deadlock
// options: --property no-deadlock
// engines: explicit/none,static,phase,dynamic
// Two threads that wait for each other's lock, and fail a check as soon as they have it.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

void *first(void *arg) {
    long own = (long)arg;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    assert(own != 1);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return NULL;
}

void *second(void *arg) {
    long own = (long)arg;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    assert(own != 1);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, NULL, first, (void *)1);
    pthread_create(&u, NULL, second, (void *)1);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
