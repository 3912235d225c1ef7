/* The same counter with a mutex.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

int counter;
pthread_mutex_t lock;

void *increment(void *arg) {
    (void)arg;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_mutex_init(&lock, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, increment, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 6);
    return 0;
}
