// A ticket lock (Mellor-Crummey and Scott 1991): a thread draws a number and waits until it is
// served. The counter that the lock protects has the right value in the end.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 2
#endif

static atomic_uint next_ticket;
static atomic_uint now_serving;
static int counter;
static int inside;

static void lock(void) {
    unsigned ticket = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load(&now_serving) != ticket) {
    }
}

static void unlock(void) {
    atomic_store(&now_serving, atomic_load(&now_serving) + 1);
}

static void *work(void *argument) {
    (void)argument;
    for (int i = 0; i < 2; i++) {
        lock();
        assert(inside == 0);
        inside = 1;
        counter++;
        inside = 0;
        unlock();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(counter == 2 * THREADS);
    return 0;
}
