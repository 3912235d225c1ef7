// expect: safe
// The data was written before the reader was started, or is protected by another lock.
// engines: explicit/none,static,phase,dynamic
#include <pthread.h>

int early, counter;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    pthread_mutex_lock(&other);
    if (pthread_mutex_trylock(&mutex) != 0)
        counter += early;
    else
        pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&other);
    return 0;
}

int main(void) {
    pthread_t thread;
    early = 1;
    pthread_create(&thread, 0, run, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&other);
    counter++;
    pthread_mutex_unlock(&other);
    pthread_join(thread, 0);
    return 0;
}
