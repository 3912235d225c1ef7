/* The same queue with `if` instead of `while` before the wait: between the
 * signal and the moment the woken thread has the lock, another takes the value.
 * expect: unsafe unreach-call
 */
#include <assert.h>
#include <pthread.h>

#define PLACES 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[PLACES], count;

static void put(int value) {
    pthread_mutex_lock(&lock);
    if (count < PLACES) {
        buffer[count] = value;
        count++;
        pthread_cond_signal(&not_empty);
    }
    pthread_mutex_unlock(&lock);
}

static void get(void) {
    pthread_mutex_lock(&lock);
    if (count == 0)
        pthread_cond_wait(&not_empty, &lock);
    assert(count > 0);
    count--;
    pthread_mutex_unlock(&lock);
}

static void *producer(void *arg) {
    (void)arg;
    put(1);
    return NULL;
}

static void *consumer(void *arg) {
    (void)arg;
    get();
    return NULL;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, consumer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_create(&c, NULL, producer, NULL);
    pthread_join(c, NULL);
    return 0;
}
