// A small software transactional memory: values are buffered and validated at commit, under one lock.
// Native: cc -pthread -Icontrib/recorder stm.c && ./a.out > run.json && mover tm history run.json
// Model checking: mover check stm.c -DMOVER_HISTORY_OFF -Icontrib/recorder
// With -DBROKEN a commit does not validate what it read: two transactions then lose updates.
#define MOVER_HISTORY
#ifdef MOVER_HISTORY_OFF
#include <assert.h>
#include <pthread.h>
#include "mover_history.h"
#define THREADS 2
#define ROUNDS 1
#define VARIABLES 2
#else
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include "mover_history.h"
#define THREADS 4
#define ROUNDS 400
#define VARIABLES 3
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long memory[VARIABLES];

struct transaction {
    int thread;
    long seen[VARIABLES], written[VARIABLES];
    int has_read[VARIABLES], has_written[VARIABLES];
};

static void tm_begin(struct transaction *t, int thread) {
    t->thread = thread;
    for (int v = 0; v < VARIABLES; v++) t->has_read[v] = t->has_written[v] = 0;
    mh_begin(thread);
}

static long tm_read(struct transaction *t, int v) {
    if (!t->has_read[v]) {
        pthread_mutex_lock(&lock);
        t->seen[v] = memory[v];
        pthread_mutex_unlock(&lock);
        t->has_read[v] = 1;
    }
    mh_read(t->thread, v, t->seen[v]);
    return t->seen[v];
}

static void tm_write(struct transaction *t, int v, long value) {
    t->written[v] = value;
    t->has_written[v] = 1;
    mh_write(t->thread, v, value);
}

static int tm_commit(struct transaction *t) {
    int valid = 1;
    mh_commit_call(t->thread);
    pthread_mutex_lock(&lock);
#ifndef BROKEN
    for (int v = 0; v < VARIABLES; v++)
        if (t->has_read[v] && memory[v] != t->seen[v]) valid = 0;
#endif
    if (valid)
        for (int v = 0; v < VARIABLES; v++)
            if (t->has_written[v]) memory[v] = t->written[v];
    pthread_mutex_unlock(&lock);
    if (valid)
        mh_commit(t->thread);
    else
        mh_abort(t->thread);
    return valid;
}

static int committed[THREADS];

/* A transaction that reads a variable and writes a value that nobody else writes. */
static void *client(void *argument) {
    int thread = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        struct transaction t;
        int v = round % VARIABLES;
        tm_begin(&t, thread);
        long old = tm_read(&t, v);
#ifndef MOVER_HISTORY_OFF
        if (round % 3 == 0) sched_yield();
        tm_write(&t, v, 1 + thread + (long)THREADS * (round + 1));
        (void)old;
#else
        tm_write(&t, v, old + 1);
#endif
        committed[thread] += tm_commit(&t);
    }
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long thread = 0; thread < THREADS; thread++)
        pthread_create(&threads[thread], 0, client, (void *)thread);
    for (int thread = 0; thread < THREADS; thread++) pthread_join(threads[thread], 0);
#ifdef MOVER_HISTORY_OFF
    /* Every committed transaction counted variable 0 up by one. */
    assert(memory[0] == committed[0] + committed[1]);
#else
    mh_dump(stdout);
#endif
    return 0;
}
