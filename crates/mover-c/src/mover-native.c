/* Makes real threads follow a recorded schedule.
 *
 * The program is compiled with a call before each access to memory and with its
 * calls of the thread library led here. The schedule is a list of steps: which
 * thread does the access at which place of the source. A thread that comes to
 * the place of its next step waits until all steps before it are done; whatever
 * it does at other places nobody else can see, so it just goes on. A step is done
 * when its thread comes to its next one, or waits, or ends: not before, because
 * the access itself happens behind the call.
 *
 * Locks are taken for real, without waiting: where the schedule says that a lock
 * is free and it is not, reality differs, and that is said. Waiting for conditions
 * and barriers follows the schedule alone, since nobody can tell the C library
 * whom to wake. For a deadlock the threads are set free behind the last step, and
 * the deadlock is there if all of them wait for ever, as far as half a second shows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Everything of this file is in one section, to tell its instructions from those of the program. */
#pragma clang section text = "mover_native"
extern const char __start_mover_native[], __stop_mover_native[];

extern const char *__asan_get_report_description(void) __attribute__((weak));
extern void *__asan_get_report_pc(void) __attribute__((weak));
extern void *__asan_region_is_poisoned(void *start, size_t size) __attribute__((weak));

enum { REPRODUCED = 99, DIFFERS = 98 };
enum { MOST_LIVES = 4096, MOST_OBJECTS = 1024 };

struct step {
    int life, site, starts, ends, number;
};

static struct step *steps;
static int count, last_life;
static char property[32];
static int leaves_stopped;

struct input {
    uint64_t value;
    int line;
};
struct inputs {
    struct input *known;
    int count, next;
};
static struct inputs inputs[MOST_LIVES];
static int cursor[MOST_LIVES];

/* The line of each site, to know which input is asked for. */
static int *lines, line_count;
/* Inputs that are only tested for zero are not recorded; these bits stand for them. */
static unsigned long guess;
static int guesses;

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int position;
static int is_free;
static int alive = 1, blocked;
static unsigned long events;
static int is_over;

static __thread int life = -1;
static __thread int site = -1;
static __thread int holding;

/* What happened, for mover to read. */
static void say(const char *kind, const char *format, va_list arguments) {
    const char *path = getenv("MOVER_NATIVE_REPORT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out)
        out = stderr;
    fprintf(out, "%s ", kind);
    vfprintf(out, format, arguments);
    fprintf(out, "\n%d\n", guesses);
    fflush(out);
}

static void reproduced(const char *format, ...) {
    if (__atomic_exchange_n(&is_over, 1, __ATOMIC_SEQ_CST))
        for (;;)
            pause();
    va_list arguments;
    va_start(arguments, format);
    say("reproduced", format, arguments);
    va_end(arguments);
    if (leaves_stopped) {
        /* When mover ends, the system would kill a stopped process group that nobody in its session
         * looks after. A session of its own spares it that; the leader of a group cannot begin one. */
        setpgid(0, getpgid(getppid()));
        setsid();
        raise(SIGSTOP);
    }
    _exit(REPRODUCED);
}

static void differs(const char *format, ...) {
    if (__atomic_exchange_n(&is_over, 1, __ATOMIC_SEQ_CST))
        for (;;)
            pause();
    va_list arguments;
    va_start(arguments, format);
    say("differs", format, arguments);
    va_end(arguments);
    _exit(DIFFERS);
}

static int is_asked(const char *name) {
    return strcmp(property, name) == 0;
}

/* Behind the schedule, and nothing has failed. */
static void nothing_shows(const char *how) {
    if (is_asked("no-data-race") && position >= count - 1)
        differs("a schedule orders the two accesses, and so shows no data race");
    differs("%s", how);
}

/* The following are called with `big` held. */

/* A thread that the schedule does not know has no steps. */
static int next_own(void) {
    if (life < 0)
        return count;
    while (cursor[life] < count && steps[cursor[life]].life != life)
        cursor[life]++;
    return cursor[life];
}

static void set_free(void) {
    is_free = 1;
    pthread_cond_broadcast(&changed);
}

static void step_done(void) {
    if (!holding)
        return;
    holding = 0;
    position++;
    events++;
    pthread_cond_broadcast(&changed);
    if (position == count && is_asked("no-deadlock"))
        set_free();
}

/* Waits for the turn of the thread's next step if that is here; whether it is. */
static struct step *turn(int here, int ends) {
    if (life < 0)
        return NULL;
    pthread_mutex_lock(&big);
    events++;
    int next = next_own();
    struct step *own = NULL;
    if (is_free) {
        /* Everybody runs. */
    } else if (next == count) {
        step_done();
        /* Who runs into the violation goes on behind the last step, the others stop. */
        while (!is_free && !(life == last_life && position == count))
            pthread_cond_wait(&changed, &big);
    } else if (steps[next].ends == ends && (ends || steps[next].site == here)) {
        step_done();
        while (position != next && !is_free)
            pthread_cond_wait(&changed, &big);
        if (!is_free) {
            holding = 1;
            cursor[life] = next + 1;
            own = &steps[next];
        }
    }
    pthread_mutex_unlock(&big);
    return own;
}

static int is_next(int here) {
    pthread_mutex_lock(&big);
    int next = next_own();
    int is = !is_free && next < count && !steps[next].ends && steps[next].site == here;
    pthread_mutex_unlock(&big);
    return is;
}

static int has_no_more(void) {
    pthread_mutex_lock(&big);
    int next = next_own();
    pthread_mutex_unlock(&big);
    return next == count;
}

/* Whether this thread runs into the violation, and so is not kept waiting before it. */
static int fails_alone(void) {
    return life == last_life && !is_asked("no-deadlock");
}

static int is_last(void) {
    return position >= count - 1;
}

/* Called by the program. */

void mover_native_site(int here) {
    site = here;
}

void mover_native_access(int here) {
    turn(here, 0);
}

/* A function of the library that accesses memory many times. */
void mover_native_bulk(int here) {
    turn(here, 0);
    while (life >= 0 && is_next(here))
        turn(here, 0);
}

/* Variables that die here. */
void mover_native_ends(int here) {
    mover_native_bulk(here);
}

void mover_native_error(void) {
    reproduced("the error function is called");
}

/* Called where clang has made an undefined constant of a computation. */
void mover_undefined_constant(void) {
    reproduced("a computation has undefined behaviour");
}

__attribute__((weak)) void reach_error(void) {
    mover_native_error();
}

__attribute__((weak)) void __VERIFIER_error(void) {
    mover_native_error();
}

/* This file is compiled without sanitizers, so whether the program's own object may be used is asked
 * for before the library uses it. */
static void look(void *object, size_t size) {
    int is_wrong = (uintptr_t)object < 4096 ||
                   (__asan_region_is_poisoned && __asan_region_is_poisoned(object, size));
    if (!is_wrong)
        return;
    const char *what = (uintptr_t)object < 4096 ? "a null pointer" : "memory that is not alive";
    if (is_asked("memory-safety"))
        reproduced("a synchronisation object is used in %s", what);
    differs("a synchronisation object is used in %s before the violation", what);
}

/* Real waiting, behind the end of the schedule. */

static void block(void) {
    __atomic_add_fetch(&blocked, 1, __ATOMIC_SEQ_CST);
}

static void unblock(void) {
    __atomic_sub_fetch(&blocked, 1, __ATOMIC_SEQ_CST);
}

static void wait_for_ever(void) {
    block();
    for (;;)
        pause();
}

/* Things that are counted beside the library's objects, by address. */

struct object {
    void *address;
    long a, b;
};
static struct object objects[MOST_OBJECTS];

static struct object *object(void *address) {
    pthread_mutex_lock(&big);
    struct object *found = NULL;
    for (int i = 0; i < MOST_OBJECTS && !found; i++)
        if (objects[i].address == address || !objects[i].address)
            found = &objects[i];
    if (found)
        found->address = address;
    pthread_mutex_unlock(&big);
    if (!found)
        differs("there are more than %d barriers and conditions", MOST_OBJECTS);
    return found;
}

/* Mutexes. */

static int owns(pthread_mutex_t *mutex) {
    return mutex->__data.__owner == gettid();
}

/* Takes a lock that is free according to the schedule. */
static int take(pthread_mutex_t *mutex) {
    int result = pthread_mutex_trylock(mutex);
    if (result != EBUSY)
        return result;
    if (owns(mutex) && mutex->__data.__kind != PTHREAD_MUTEX_NORMAL)
        return pthread_mutex_lock(mutex);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 2;
    result = pthread_mutex_timedlock(mutex, &until);
    if (result == ETIMEDOUT)
        differs("step %d locks a mutex that is already locked", position + 1);
    return result;
}

int mover_native_pthread_mutex_lock(pthread_mutex_t *mutex) {
    struct step *own = turn(site, 0);
    look(mutex, sizeof *mutex);
    if (own)
        return take(mutex);
    block();
    int result = pthread_mutex_lock(mutex);
    unblock();
    return result;
}

int mover_native_pthread_mutex_trylock(pthread_mutex_t *mutex) {
    turn(site, 0);
    look(mutex, sizeof *mutex);
    return pthread_mutex_trylock(mutex);
}

int mover_native_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    (void)until;
    turn(site, 0);
    look(mutex, sizeof *mutex);
    int result = pthread_mutex_trylock(mutex);
    return result == EBUSY ? ETIMEDOUT : result;
}

int mover_native_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    turn(site, 0);
    look(mutex, sizeof *mutex);
    if (is_asked("mutex-misuse") && is_last() && !owns(mutex))
        reproduced("a mutex is unlocked by a thread that does not hold it");
    return pthread_mutex_unlock(mutex);
}

int mover_native_pthread_mutex_destroy(pthread_mutex_t *mutex) {
    turn(site, 0);
    look(mutex, sizeof *mutex);
    int result = pthread_mutex_destroy(mutex);
    if (result == EBUSY && is_asked("mutex-misuse") && is_last())
        reproduced("a mutex is destroyed while it is held (EBUSY)");
    return result;
}

int mover_native_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *how) {
    mover_native_bulk(site);
    return pthread_mutex_init(mutex, how);
}

/* C11's are the same objects in glibc; its results are other numbers. */

static int c11(int result) {
    return result == 0 ? 0 : result == EBUSY ? 1 : result == ETIMEDOUT ? 4 : 2;
}

int mover_native_mtx_lock(void *mutex) {
    return c11(mover_native_pthread_mutex_lock(mutex));
}

int mover_native_mtx_trylock(void *mutex) {
    return c11(mover_native_pthread_mutex_trylock(mutex));
}

int mover_native_mtx_timedlock(void *mutex, const struct timespec *until) {
    return c11(mover_native_pthread_mutex_timedlock(mutex, until));
}

int mover_native_mtx_unlock(void *mutex) {
    return c11(mover_native_pthread_mutex_unlock(mutex));
}

/* Spin locks and read-write locks. */

#define LOCK(NAME, TYPE, TRY, REAL)                                              \
    int mover_native_##NAME(TYPE *lock) {                                        \
        struct step *own = turn(site, 0);                                        \
        look((void *)lock, sizeof *lock);                                        \
        if (own) {                                                               \
            int result = TRY(lock);                                              \
            if (result == EBUSY)                                                 \
                differs("step %d acquires a lock that is already held", position + 1);     \
            return result;                                                       \
        }                                                                        \
        block();                                                                 \
        int result = REAL(lock);                                                 \
        unblock();                                                               \
        return result;                                                           \
    }

LOCK(pthread_spin_lock, pthread_spinlock_t, pthread_spin_trylock, pthread_spin_lock)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_t, pthread_rwlock_tryrdlock, pthread_rwlock_rdlock)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_t, pthread_rwlock_trywrlock, pthread_rwlock_wrlock)

#define TIMED(NAME, TRY)                                                         \
    int mover_native_##NAME(pthread_rwlock_t *lock, const struct timespec *until) { \
        (void)until;                                                             \
        turn(site, 0);                                                           \
        look(lock, sizeof *lock);                                                \
        int result = TRY(lock);                                                  \
        return result == EBUSY ? ETIMEDOUT : result;                             \
    }

TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock)
TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock)

/* Semaphores. */

int mover_native_sem_wait(sem_t *semaphore) {
    struct step *own = turn(site, 0);
    look(semaphore, sizeof *semaphore);
    if (own) {
        int result = sem_trywait(semaphore);
        if (result != 0 && errno == EAGAIN)
            differs("step %d takes a permit of a semaphore that has none", position + 1);
        return result;
    }
    block();
    int result = sem_wait(semaphore);
    unblock();
    return result;
}

int mover_native_sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    (void)until;
    turn(site, 0);
    look(semaphore, sizeof *semaphore);
    int result = sem_trywait(semaphore);
    if (result != 0 && errno == EAGAIN)
        errno = ETIMEDOUT;
    return result;
}

/* Condition variables: `a` counts signals. */

static int sleep_on(void *condition, pthread_mutex_t *mutex, int can_time_out) {
    int here = site;
    struct object *known = object(condition);
    struct step *own = turn(here, 0);
    look(condition, sizeof(pthread_cond_t));
    look(mutex, sizeof *mutex);
    if (own) {
        if (is_asked("mutex-misuse") && is_last() && !owns(mutex))
            reproduced("a thread waits for a condition without holding the mutex");
        long signals = known->a;
        pthread_mutex_unlock(mutex);
        if (turn(here, 0)) {
            /* One that gives up takes the mutex in a step of its own. */
            int gives_up = is_next(here) || (has_no_more() && known->a == signals && !fails_alone());
            if (!can_time_out || !gives_up) {
                take(mutex);
                return 0;
            }
            if (turn(here, 0)) {
                take(mutex);
            } else {
                block();
                pthread_mutex_lock(mutex);
                unblock();
            }
            return ETIMEDOUT;
        }
        /* Behind the schedule it may be awake already: then it waits for the mutex only. */
        block();
        pthread_mutex_lock(mutex);
        unblock();
        if (can_time_out)
            return ETIMEDOUT;
    }
    block();
    int result = pthread_cond_wait(condition, mutex);
    unblock();
    return result;
}

int mover_native_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    return sleep_on(condition, mutex, 0);
}

int mover_native_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                        const struct timespec *until) {
    (void)until;
    return sleep_on(condition, mutex, 1);
}

int mover_native_cnd_wait(void *condition, void *mutex) {
    return c11(sleep_on(condition, mutex, 0));
}

int mover_native_cnd_timedwait(void *condition, void *mutex, const struct timespec *until) {
    (void)until;
    return c11(sleep_on(condition, mutex, 1));
}

int mover_native_pthread_cond_signal(pthread_cond_t *condition) {
    turn(site, 0);
    look(condition, sizeof *condition);
    object(condition)->a++;
    return pthread_cond_signal(condition);
}

int mover_native_pthread_cond_broadcast(pthread_cond_t *condition) {
    turn(site, 0);
    look(condition, sizeof *condition);
    object(condition)->a++;
    return pthread_cond_broadcast(condition);
}

int mover_native_cnd_signal(void *condition) {
    return mover_native_pthread_cond_signal(condition);
}

int mover_native_cnd_broadcast(void *condition) {
    return mover_native_pthread_cond_broadcast(condition);
}

/* Barriers: `a` is how many must come, `b` how many have. */

int mover_native_pthread_barrier_init(pthread_barrier_t *barrier,
                                      const pthread_barrierattr_t *how, unsigned total) {
    mover_native_bulk(site);
    struct object *known = object(barrier);
    known->a = total;
    known->b = 0;
    return pthread_barrier_init(barrier, how, total);
}

int mover_native_pthread_barrier_wait(pthread_barrier_t *barrier) {
    int here = site;
    struct object *known = object(barrier);
    if (!turn(here, 0))
        wait_for_ever();
    if (++known->b >= known->a) {
        known->b = 0;
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    if (!turn(here, 0))
        wait_for_ever();
    return 0;
}

/* Once: `a` is 0, 1 while it is being done, 2. */

int mover_native_pthread_once(pthread_once_t *once, void (*routine)(void)) {
    int here = site;
    struct object *known = object(once);
    if (!turn(here, 0) && known->a == 1)
        wait_for_ever();
    if (known->a == 0) {
        known->a = 1;
        routine();
        turn(here, 0);
        known->a = 2;
    }
    return 0;
}

void mover_native_call_once(pthread_once_t *once, void (*routine)(void)) {
    mover_native_pthread_once(once, routine);
}

/* Threads. */

struct start {
    void *(*routine)(void *);
    int (*c11_routine)(void *);
    void *argument;
    int life;
};

static void thread_ends(void *unused) {
    (void)unused;
    struct step *own = turn(-1, 1);
    pthread_mutex_lock(&big);
    step_done();
    if (!own && !is_free && next_own() < count)
        differs("a thread has exited before step %d, which it takes in the recorded run",
                steps[next_own()].number);
    alive--;
    pthread_mutex_unlock(&big);
}

static void *run(void *given) {
    struct start start = *(struct start *)given;
    free(given);
    life = start.life;
    void *result = NULL;
    pthread_cleanup_push(thread_ends, NULL);
    if (start.routine)
        result = start.routine(start.argument);
    else
        result = (void *)(intptr_t)start.c11_routine(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

void mover_native_pthread_exit(void *result) {
    /* The first thread has no frame of ours around it. */
    if (life == 0)
        thread_ends(NULL);
    pthread_exit(result);
}

void mover_native_thrd_exit(int result) {
    mover_native_pthread_exit((void *)(intptr_t)result);
}

static int begin(pthread_t *thread, const pthread_attr_t *how, struct start start) {
    int here = site;
    struct step *own = turn(here, 0);
    /* Finding a handle and storing it are steps of their own if others can see it. */
    while (own && own->starts < 0 && is_next(here))
        own = turn(here, 0);
    if (own && own->starts >= MOST_LIVES)
        differs("there are more than %d threads", MOST_LIVES);
    start.life = own ? own->starts : -1;
    if (own && start.life < 0)
        differs("step %d of the recorded run starts no thread", own->number);
    struct start *given = malloc(sizeof *given);
    *given = start;
    pthread_mutex_lock(&big);
    alive++;
    pthread_mutex_unlock(&big);
    int result = pthread_create(thread, how, run, given);
    if (result != 0)
        differs("pthread_create fails: %s", strerror(result));
    return result;
}

int mover_native_pthread_create(pthread_t *thread, const pthread_attr_t *how,
                                void *(*routine)(void *), void *argument) {
    return begin(thread, how, (struct start){routine, NULL, argument, -1});
}

int mover_native_thrd_create(pthread_t *thread, int (*routine)(void *), void *argument) {
    return c11(begin(thread, NULL, (struct start){NULL, routine, argument, -1}));
}

int mover_native_pthread_join(pthread_t thread, void **result) {
    struct step *own = turn(site, 0);
    if (!own)
        block();
    int failed = pthread_join(thread, result);
    if (!own)
        unblock();
    if (failed && is_asked("mutex-misuse") && is_last())
        reproduced("a thread that cannot be joined is joined: %s", strerror(failed));
    return failed;
}

int mover_native_thrd_join(pthread_t thread, int *result) {
    void *value = NULL;
    int failed = mover_native_pthread_join(thread, &value);
    if (result)
        *result = (int)(intptr_t)value;
    return c11(failed);
}

int mover_native_pthread_detach(pthread_t thread) {
    turn(site, 0);
    int failed = pthread_detach(thread);
    if (failed && is_asked("mutex-misuse") && is_last())
        reproduced("a thread that cannot be detached is detached: %s", strerror(failed));
    return failed;
}

int mover_native_thrd_detach(pthread_t thread) {
    return c11(mover_native_pthread_detach(thread));
}

/* Memory is taken to be zero where it is not initialised. */

void *mover_native_malloc(size_t size) {
    turn(site, 0);
    return calloc(1, size);
}

/* Inputs. */

static uint64_t input(void) {
    turn(site, 0);
    int line = site >= 0 && site < line_count ? lines[site] : 0;
    if (life >= 0) {
        struct inputs *own = &inputs[life];
        if (own->next < own->count && own->known[own->next].line == line)
            return own->known[own->next++].value;
    }
    int number = __atomic_fetch_add(&guesses, 1, __ATOMIC_SEQ_CST);
    return number < 64 ? guess >> number & 1 : 0;
}

#define INPUT(NAME, TYPE)                                                        \
    TYPE mover_native___VERIFIER_nondet_##NAME(void) {                           \
        return (TYPE)input();                                                    \
    }
INPUT(int, int)
INPUT(uint, unsigned)
INPUT(unsigned, unsigned)
INPUT(unsigned_int, unsigned)
INPUT(long, long)
INPUT(ulong, unsigned long)
INPUT(longlong, long long)
INPUT(ulonglong, unsigned long long)
INPUT(short, short)
INPUT(ushort, unsigned short)
INPUT(char, char)
INPUT(uchar, unsigned char)
INPUT(bool, _Bool)
INPUT(_Bool, _Bool)
INPUT(size_t, size_t)
INPUT(u8, uint8_t)
INPUT(u16, uint16_t)
INPUT(u32, uint32_t)

void mover_native___VERIFIER_assume(int holds) {
    if (!holds)
        differs("an assumption does not hold");
}

void mover_native___VERIFIER_assert(int holds) {
    if (!holds)
        reproduced("a verifier's assertion fails");
}

void mover_native___VERIFIER_atomic_begin(void) {}
void mover_native___VERIFIER_atomic_end(void) {}

/* Violations. */

void mover_native___assert_fail(const char *text, const char *file, unsigned line,
                                const char *function) {
    if (!is_asked("unreach-call"))
        differs("an assertion fails before the violation: `%s` at %s:%u", text, file, line);
    reproduced("assertion `%s` fails at %s:%u in %s", text, file, line, function);
}

void __asan_on_error(void) {
    const char *what = __asan_get_report_description ? __asan_get_report_description() : "";
    const char *at = __asan_get_report_pc ? __asan_get_report_pc() : NULL;
    if (at >= __start_mover_native && at < __stop_mover_native)
        differs("a wrong memory access of the replay itself: %s", what);
    if (is_asked("memory-safety"))
        reproduced("AddressSanitizer: %s", what);
    differs("a wrong memory access before the violation: %s", what);
}

void __ubsan_on_report(void) {
    if (is_asked("no-overflow") || is_asked("unreach-call"))
        reproduced("UndefinedBehaviorSanitizer reports an undefined computation");
}

const char *__asan_default_options(void) {
    return "detect_leaks=0:detect_stack_use_after_return=1:exitcode=97";
}

static void on_signal(int number) {
    if (is_asked("memory-safety") || (is_asked("unreach-call") && number == SIGFPE))
        reproduced("signal %s", strsignal(number));
    differs("signal %s before the violation", strsignal(number));
}

/* Looks whether anything still moves. */
static void *watch(void *unused) {
    (void)unused;
    unsigned long seen = 0;
    int still = 0, stuck = 0;
    for (;;) {
        usleep(50000);
        pthread_mutex_lock(&big);
        int all_blocked = is_free && __atomic_load_n(&blocked, __ATOMIC_SEQ_CST) >= alive;
        still = events == seen ? still + 1 : 0;
        seen = events;
        int at = position, free_now = is_free;
        pthread_mutex_unlock(&big);
        stuck = all_blocked ? stuck + 1 : 0;
        if (stuck == 10)
            reproduced("all %d threads wait for ever", alive);
        if (still == 200 && !free_now && at < count)
            differs("step %d is never taken: its thread does not reach it", steps[at].number);
        if (still == 200 || (still == 20 && is_asked("no-data-race") && at >= count - 1))
            nothing_shows("the violation does not show");
    }
    return NULL;
}

static void on_exit_(void) {
    if (life == 0 || position < count)
        nothing_shows("the program ends without the violation");
}

__attribute__((constructor)) static void prepare(void) {
    const char *path = getenv("MOVER_NATIVE_SCHEDULE");
    FILE *in = path ? fopen(path, "r") : NULL;
    if (!in) {
        fprintf(stderr, "this program follows a schedule and is run by `mover replay --native`\n");
        _exit(DIFFERS);
    }
    char kind;
    int room = 0;
    while (fscanf(in, " %c", &kind) == 1) {
        if (kind == 'p') {
            if (fscanf(in, "%31s %d %d", property, &last_life, &leaves_stopped) != 3)
                break;
        } else if (kind == 's') {
            if (count == room) {
                room = room ? room * 2 : 64;
                steps = realloc(steps, room * sizeof *steps);
            }
            struct step *step = &steps[count];
            if (fscanf(in, "%d %d %d %d %d", &step->life, &step->site, &step->starts, &step->ends,
                       &step->number) != 5 ||
                step->life < 0 || step->life >= MOST_LIVES)
                break;
            count++;
        } else if (kind == 'i') {
            int of, line;
            unsigned long long value;
            if (fscanf(in, "%d %d %llu", &of, &line, &value) != 3 || of < 0 || of >= MOST_LIVES)
                break;
            struct inputs *own = &inputs[of];
            own->known = realloc(own->known, (own->count + 1) * sizeof *own->known);
            own->known[own->count++] = (struct input){value, line};
        } else if (kind == 'l') {
            lines = realloc(lines, (line_count + 1) * sizeof *lines);
            if (fscanf(in, "%d", &lines[line_count]) != 1)
                break;
            line_count++;
        } else if (kind == 'g') {
            if (fscanf(in, "%lu", &guess) != 1)
                break;
        }
    }
    fclose(in);
    life = 0;
    atexit(on_exit_);
    signal(SIGFPE, on_signal);
    if (!__asan_get_report_description) {
        signal(SIGSEGV, on_signal);
        signal(SIGBUS, on_signal);
    }
    if (count == 0 && is_asked("no-deadlock"))
        is_free = 1;
    pthread_t watcher;
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_detach(watcher);
}
