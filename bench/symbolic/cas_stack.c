// Treiber's stack (1986): a linked list whose head is changed by compare-and-swap. Each thread
// pushes a node of its own and pops one. No node is lost and none is popped twice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif

struct node {
    int value;
    struct node *next;
};

static _Atomic(struct node *) head;
static _Atomic int popped[THREADS];

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    struct node *old = atomic_load(&head);
    do {
        node->next = old;
    } while (!atomic_compare_exchange_strong(&head, &old, node));
}

static int pop(void) {
    struct node *old = atomic_load(&head);
    while (old != NULL && !atomic_compare_exchange_strong(&head, &old, old->next)) {
    }
    return old == NULL ? -1 : old->value;
}

static void *work(void *argument) {
    push((int)(long)argument);
    int value = pop();
    assert(value >= 0);
    assert(atomic_fetch_add(&popped[value], 1) == 0);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&head) == NULL);
    return 0;
}
