// expect: safe
// Of two threads that try once, at most one fails.
// engines: explicit/none,static,phase,dynamic bmc
// expect: unsafe no-data-race
// With a third thread both fail.
// options: -DTHIRD
#include <pthread.h>

int failures;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    if (pthread_mutex_trylock(&mutex) == 0)
        pthread_mutex_unlock(&mutex);
    else
        failures++;
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, run, 0);
    pthread_create(&two, 0, run, 0);
#ifdef THIRD
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
#endif
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
