// A queue of tasks on the heap under a mutex: main fills it, the threads take tasks until it is
// empty. Each task is done once.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif

#define TASKS 3

struct task {
    int number;
    struct task *next;
};

static struct task *first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done[TASKS];
static int total;

static void add(int number) {
    struct task *task = malloc(sizeof *task);
    task->number = number;
    pthread_mutex_lock(&mutex);
    task->next = first;
    first = task;
    pthread_mutex_unlock(&mutex);
}

static struct task *take(void) {
    pthread_mutex_lock(&mutex);
    struct task *task = first;
    if (task != NULL)
        first = task->next;
    pthread_mutex_unlock(&mutex);
    return task;
}

static void *work(void *argument) {
    (void)argument;
    struct task *task;
    while ((task = take()) != NULL) {
        assert(done[task->number] == 0);
        done[task->number] = 1;
        pthread_mutex_lock(&mutex);
        total++;
        pthread_mutex_unlock(&mutex);
        free(task);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < TASKS; i++)
        add(i);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(total == TASKS);
    return 0;
}
