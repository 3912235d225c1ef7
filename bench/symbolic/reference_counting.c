// An object that several threads share and whose last owner frees it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif

struct object {
    atomic_int owners;
    int data;
};

static atomic_int freed;

static void release(struct object *object) {
    if (atomic_fetch_sub(&object->owners, 1) == 1) {
        assert(atomic_fetch_add(&freed, 1) == 0);
        free(object);
    }
}

static void *work(void *argument) {
    struct object *object = argument;
    assert(object->data == 7);
    release(object);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    struct object *object = malloc(sizeof *object);
    object->data = 7;
    atomic_init(&object->owners, 1);
    for (int i = 0; i < THREADS; i++) {
        atomic_fetch_add(&object->owners, 1);
        pthread_create(&threads[i], NULL, work, object);
    }
    release(object);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&freed) == 1);
    return 0;
}
