/* Records what a transactional memory or a database client does, for `mover tm history`.
 *
 * Call mh_begin before a transaction begins, mh_read and mh_write after the memory has answered, and
 * mh_commit_call before and mh_commit or mh_abort after the end of the transaction. Values should be unique
 * for each variable. Each thread has a buffer of its own, so recording takes no lock; an event takes
 * a number from one counter that all threads share, and mh_dump writes the events in the order of these numbers.
 * A commit that was called and not answered may have taken effect.
 *
 * Exactly one file defines MOVER_HISTORY before it includes this one. A buffer that is full ends the
 * process with a message rather than with a history that lacks events. Call mh_dump after all threads have
 * been joined. With MOVER_HISTORY_OFF the macros do nothing, so that a model checker sees the program alone.
 */
#ifndef MOVER_HISTORY_H
#define MOVER_HISTORY_H

#ifdef MOVER_HISTORY_OFF

#define mh_begin(thread) ((void)0)
#define mh_read(thread, variable, value) ((void)0)
#define mh_write(thread, variable, value) ((void)0)
#define mh_commit_call(thread) ((void)0)
#define mh_commit(thread) ((void)0)
#define mh_abort(thread) ((void)0)

#else

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef MH_THREADS
#define MH_THREADS 64
#endif
#ifndef MH_EVENTS
#define MH_EVENTS (1 << 16)
#endif

enum mh_kind { MH_BEGIN, MH_READ, MH_WRITE, MH_COMMIT_CALL, MH_COMMIT, MH_ABORT };

struct mh_event {
    unsigned long order;
    enum mh_kind kind;
    long variable, value;
};

struct mh_buffer {
    unsigned long count;
    struct mh_event events[MH_EVENTS];
};

extern struct mh_buffer *mh_buffers[MH_THREADS];
extern atomic_ulong mh_clock;

/* Adds an event; only the thread itself uses its buffer. */
static inline void mh_add(int thread, enum mh_kind kind, long variable, long value) {
    if (thread < 0 || thread >= MH_THREADS) {
        fprintf(stderr, "mover_history: thread %d; raise MH_THREADS\n", thread);
        abort();
    }
    struct mh_buffer *buffer = mh_buffers[thread];
    if (!buffer) {
        buffer = mh_buffers[thread] = calloc(1, sizeof *buffer);
        if (!buffer) {
            fprintf(stderr, "mover_history: out of memory\n");
            abort();
        }
    }
    if (buffer->count == MH_EVENTS) {
        fprintf(stderr, "mover_history: the buffer of thread %d is full; raise MH_EVENTS\n", thread);
        abort();
    }
    struct mh_event *event = &buffer->events[buffer->count++];
    event->order = atomic_fetch_add(&mh_clock, 1);
    event->kind = kind;
    event->variable = variable;
    event->value = value;
}

#define mh_begin(thread) mh_add(thread, MH_BEGIN, 0, 0)
#define mh_read(thread, variable, value) mh_add(thread, MH_READ, variable, value)
#define mh_write(thread, variable, value) mh_add(thread, MH_WRITE, variable, value)
#define mh_commit_call(thread) mh_add(thread, MH_COMMIT_CALL, 0, 0)
#define mh_commit(thread) mh_add(thread, MH_COMMIT, 0, 0)
#define mh_abort(thread) mh_add(thread, MH_ABORT, 0, 0)

#ifdef MOVER_HISTORY
struct mh_buffer *mh_buffers[MH_THREADS];
atomic_ulong mh_clock;

/* Writes all events; no thread may record any more. */
static void mh_dump(FILE *out) {
    unsigned long next[MH_THREADS] = {0};
    for (;;) {
        int chosen = -1;
        for (int thread = 0; thread < MH_THREADS; thread++) {
            struct mh_buffer *buffer = mh_buffers[thread];
            if (!buffer || next[thread] == buffer->count) continue;
            if (chosen < 0 ||
                buffer->events[next[thread]].order < mh_buffers[chosen]->events[next[chosen]].order)
                chosen = thread;
        }
        if (chosen < 0) break;
        struct mh_event *event = &mh_buffers[chosen]->events[next[chosen]++];
        fprintf(out, "{\"thread\":%d,\"op\":", chosen);
        switch (event->kind) {
        case MH_BEGIN: fprintf(out, "\"begin\"}\n"); break;
        case MH_READ:
            fprintf(out, "\"read\",\"var\":%ld,\"value\":%ld}\n", event->variable, event->value);
            break;
        case MH_WRITE:
            fprintf(out, "\"write\",\"var\":%ld,\"value\":%ld}\n", event->variable, event->value);
            break;
        case MH_COMMIT_CALL: fprintf(out, "\"commit\",\"event\":\"invoke\"}\n"); break;
        case MH_COMMIT: fprintf(out, "\"commit\",\"event\":\"respond\"}\n"); break;
        case MH_ABORT: fprintf(out, "\"abort\"}\n"); break;
        }
    }
}
#endif

#endif
#endif
