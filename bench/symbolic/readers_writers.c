// Readers and writers (Courtois, Heymans and Parnas 1971), readers first: the first reader locks
// writers out, the last one lets them in.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#ifndef THREADS
#define THREADS 2
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t room;
static int reading;
static int x;
static int y;

static void *read_both(void *argument) {
    (void)argument;
    pthread_mutex_lock(&mutex);
    reading++;
    if (reading == 1)
        sem_wait(&room);
    pthread_mutex_unlock(&mutex);
    assert(x == y);
    pthread_mutex_lock(&mutex);
    reading--;
    if (reading == 0)
        sem_post(&room);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *write_both(void *argument) {
    (void)argument;
    sem_wait(&room);
    x++;
    y++;
    sem_post(&room);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    sem_init(&room, 0, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i % 2 == 0 ? write_both : read_both, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(x == (THREADS + 1) / 2);
    assert(reading == 0);
    return 0;
}
