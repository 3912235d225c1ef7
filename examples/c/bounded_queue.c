/* A queue of one place with two condition variables, two producers, one consumer.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#define PLACES 1

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[PLACES], count, sum;

static void put(int value) {
    pthread_mutex_lock(&lock);
    while (count == PLACES)
        pthread_cond_wait(&not_full, &lock);
    buffer[count] = value;
    count++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int get(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&not_empty, &lock);
    count--;
    int value = buffer[count];
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return value;
}

static void *producer(void *arg) {
    put((int)(long)arg);
    return NULL;
}

static void *consumer(void *arg) {
    (void)arg;
    sum += get();
    sum += get();
    return NULL;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, producer, (void *)1);
    pthread_create(&b, NULL, producer, (void *)2);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(sum == 3 && count == 0);
    return 0;
}
