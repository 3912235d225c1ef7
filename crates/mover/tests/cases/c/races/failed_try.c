// expect: unsafe no-data-race
// A `trylock` that fails does not synchronise: the writer is only seen to hold the lock.
// engines: explicit/none,static,phase,dynamic bmc
// expect: safe
// A lock that was taken does.
// options: -DTAKEN
#include <pthread.h>

int data, seen;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *write_it(void *unused) {
#ifdef TAKEN
    pthread_mutex_lock(&mutex);
    data = 1;
#else
    data = 1;
    pthread_mutex_lock(&mutex);
#endif
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, write_it, 0);
#ifdef TAKEN
    if (pthread_mutex_trylock(&mutex) == 0) {
        seen = data;
        pthread_mutex_unlock(&mutex);
    }
#else
    if (pthread_mutex_trylock(&mutex) != 0)
        seen = data;
    else
        pthread_mutex_unlock(&mutex);
#endif
    pthread_join(thread, 0);
    return seen > 1;
}
