// A bounded buffer with a mutex and two condition variables (Hoare 1974). Half of the threads
// produce, half consume (an odd number is rounded down). All that was put in comes out.
#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 2
#endif

#define ROOM 2
#define ITEMS 2
#define CONSUMERS (THREADS / 2)
#define PRODUCERS CONSUMERS

static int buffer[ROOM];
static int first;
static int count;
static int put_sum;
static int got_sum;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;

static void *produce(void *argument) {
    int value = (int)(long)argument;
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        while (count == ROOM)
            pthread_cond_wait(&not_full, &mutex);
        assert(count >= 0 && count < ROOM);
        buffer[(first + count) % ROOM] = value + i;
        put_sum += value + i;
        count++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consume(void *argument) {
    (void)argument;
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        while (count == 0)
            pthread_cond_wait(&not_empty, &mutex);
        assert(count > 0 && count <= ROOM);
        got_sum += buffer[first];
        first = (first + 1) % ROOM;
        count--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    pthread_t producers[PRODUCERS];
    pthread_t consumers[CONSUMERS];
    for (long i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, produce, (void *)(i + 1));
    for (int i = 0; i < CONSUMERS; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(consumers[i], NULL);
    assert(count == 0);
    assert(put_sum == got_sum);
    return 0;
}
