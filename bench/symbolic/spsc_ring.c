// A ring buffer without locks for one producer and one consumer (Lamport 1983). Threads in pairs
// share a ring; items come out in the order in which they went in.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 2
#endif

#define ROOM 2
#define ITEMS 3
#define RINGS (THREADS / 2)

struct ring {
    atomic_uint head;
    atomic_uint tail;
    int items[ROOM];
};

static struct ring rings[RINGS];

static void *produce(void *argument) {
    struct ring *ring = argument;
    for (int i = 0; i < ITEMS; i++) {
        unsigned tail = atomic_load(&ring->tail);
        while (tail - atomic_load(&ring->head) == ROOM) {
        }
        ring->items[tail % ROOM] = i;
        atomic_store(&ring->tail, tail + 1);
    }
    return NULL;
}

static void *consume(void *argument) {
    struct ring *ring = argument;
    for (int i = 0; i < ITEMS; i++) {
        unsigned head = atomic_load(&ring->head);
        while (atomic_load(&ring->tail) == head) {
        }
        assert(ring->items[head % ROOM] == i);
        atomic_store(&ring->head, head + 1);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2 * RINGS];
    for (int i = 0; i < RINGS; i++) {
        pthread_create(&threads[2 * i], NULL, produce, &rings[i]);
        pthread_create(&threads[2 * i + 1], NULL, consume, &rings[i]);
    }
    for (int i = 0; i < 2 * RINGS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
