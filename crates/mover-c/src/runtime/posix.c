/* What programs ask of the system besides threads, memory and streams.
 *
 * Calls that depend on the world outside succeed or fail as they like. Nothing is read back that was
 * written there. Processes, named semaphores and signals that arrive are not modelled.
 */

static int __mover_works(void) { return __mover_choice(2) ? 0 : -1; }
/* A number that is not negative, or -1 for failure. */
static int __mover_number_or_error(void) {
    int value = __VERIFIER_nondet_int();
    __VERIFIER_assume(value >= -1);
    return value;
}

/* Files. */
int __mover_open(const char *name, int flags, ...) {
    int file = __mover_number_or_error();
    __VERIFIER_assume(file == -1 || file > 2);
    return file;
}
int __mover_creat(const char *name, unsigned mode) { return __mover_open(name, 0); }
int __mover_dup(int file) { return __mover_number_or_error(); }
int __mover_dup2(int file, int to) { return __mover_choice(2) ? to : -1; }
int __mover_fcntl(int file, int command, ...) { return __mover_number_or_error(); }
int __mover_ioctl(int file, unsigned long command, ...) { return __mover_number_or_error(); }
long __mover_lseek(int file, long offset, int from) {
    long at = __VERIFIER_nondet_long();
    __VERIFIER_assume(at >= -1);
    return at;
}
int __mover_fsync(int file) { return __mover_works(); }
int __mover_fdatasync(int file) { return __mover_works(); }
int __mover_ftruncate(int file, long size) { return __mover_works(); }
int __mover_rename(const char *from, const char *to) { return __mover_works(); }
int __mover_unlink(const char *name) { return __mover_works(); }
int __mover_access(const char *name, int mode) { return __mover_works(); }
int __mover_mkdir(const char *name, unsigned mode) { return __mover_works(); }
int __mover_rmdir(const char *name) { return __mover_works(); }
int __mover_chdir(const char *name) { return __mover_works(); }

/* Memory of the system: as from `calloc`, given back as a whole. */
void *__mover_mmap(void *at, size_t size, int protection, int flags, int file, long offset) {
    if (!(flags & 0x20) || (flags & 0x10))
        __mover_unsupported("`mmap` other than of anonymous memory anywhere");
    return __mover_allocate_zeroed(size);
}
int __mover_munmap(void *at, size_t size) {
    if (__mover_object_size(at) != size)
        __mover_unsupported("`munmap` of a part of what was mapped");
    __mover_release(at);
    return 0;
}
int __mover_mlock(const void *at, size_t size) { return __mover_works(); }
int __mover_munlock(const void *at, size_t size) { return __mover_works(); }
int __mover_mlockall(int flags) { return __mover_works(); }
int __mover_munlockall(void) { return __mover_works(); }

/* The user and the process. */
static unsigned __mover_any_number(void) { return (unsigned)__VERIFIER_nondet_int(); }
unsigned __mover_getuid(void) { return __mover_any_number(); }
unsigned __mover_geteuid(void) { return __mover_any_number(); }
unsigned __mover_getgid(void) { return __mover_any_number(); }
unsigned __mover_getegid(void) { return __mover_any_number(); }
unsigned __mover_umask(unsigned mask) { return __mover_any_number() & 0777; }
int __mover_nice(int by) { return __mover_number_or_error(); }
int __mover_prctl(int what, ...) { return __mover_number_or_error(); }
int __mover_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) {
    return 0; /* There is no fork. */
}
int __mover_getpid(void);
/* Threads have numbers in the order in which they ask; the first one is any number. */
static _Thread_local int __mover_thread_number;
static int __mover_last_thread_number;
int __mover_gettid(void) {
    if (__mover_thread_number == 0) {
        __VERIFIER_atomic_begin();
        if (__mover_last_thread_number == 0) {
            __mover_last_thread_number = __VERIFIER_nondet_int();
            __VERIFIER_assume(__mover_last_thread_number > 0 && __mover_last_thread_number < 1 << 22);
        }
        __mover_thread_number = __mover_last_thread_number++;
        __VERIFIER_atomic_end();
    }
    return __mover_thread_number;
}
long __mover_syscall(long number, ...) {
    if (sizeof(long) == 8 && number == 186)
        return __mover_gettid();
    if (sizeof(long) == 8 && number == 39)
        return __mover_getpid();
    __mover_unsupported("`syscall` other than SYS_gettid and SYS_getpid");
    return -1;
}

/* Signals: nobody sends one. */
int __mover_kill(int process, int number) {
    if (number != 0)
        __mover_unsupported("`kill` with a signal");
    return __mover_works();
}
int __mover_pthread_kill(unsigned long thread, int number) {
    if (number != 0)
        __mover_unsupported("`pthread_kill` with a signal");
    return __mover_choice(2) ? 0 : 3; /* ESRCH: it has ended. */
}
int __mover_sigdelset(size_t *set, int number) {
    *set &= ~((size_t)1 << ((number - 1) % (8 * (int)sizeof(size_t))));
    return 0;
}
int __mover_sigismember(const size_t *set, int number) {
    return (int)(*set >> ((number - 1) % (8 * (int)sizeof(size_t))) & 1);
}

/* Scheduling is any. */
static int __mover_priority(int *to) {
    *to = __VERIFIER_nondet_int();
    __VERIFIER_assume(*to >= 0 && *to < 100);
    return 0;
}
int __mover_sched_getparam(int process, int *to) {
    return __mover_choice(2) ? __mover_priority(to) : -1;
}
int __mover_sched_setparam(int process, const int *from) { return __mover_works(); }
int __mover_sched_setscheduler(int process, int policy, const int *from) { return __mover_works(); }
int __mover_sched_getscheduler(int process) { return (int)__mover_choice(4) - 1; }
int __mover_sched_get_priority_max(int policy) { return policy == 1 || policy == 2 ? 99 : 0; }
int __mover_sched_get_priority_min(int policy) { return policy == 1 || policy == 2; }
int __mover_sched_getcpu(void) { return __mover_number_or_error(); }
int __mover_pthread_getschedparam(unsigned long thread, int *policy, int *to) {
    *policy = (int)__mover_choice(3);
    return __mover_priority(to);
}
int __mover_pthread_setschedprio(unsigned long thread, int priority) {
    return __mover_choice(2) ? 0 : 1; /* EPERM */
}
int __mover_pthread_getconcurrency(void) {
    int level = __VERIFIER_nondet_int();
    __VERIFIER_assume(level >= 0);
    return level;
}
int __mover_pthread_getcpuclockid(unsigned long thread, int *to) {
    *to = __VERIFIER_nondet_int();
    return 0;
}
/* At least one processor, of the first two. */
static int __mover_processors(size_t size, unsigned char *set) {
    for (size_t i = 0; i < size; i++)
        set[i] = 0;
    if (size > 0)
        set[0] = (unsigned char)(__mover_choice(3) + 1);
    return 0;
}
int __mover_pthread_getaffinity_np(unsigned long thread, size_t size, unsigned char *set) {
    return __mover_processors(size, set);
}
int __mover_sched_getaffinity(int process, size_t size, unsigned char *set) {
    return __mover_processors(size, set);
}

/* Locks with a clock of their own: all clocks show one time. */
int pthread_mutex_timedlock(void *mutex, const void *until);
int __mover_pthread_mutex_clocklock(void *mutex, int clock, const void *until) {
    return pthread_mutex_timedlock(mutex, until);
}
int pthread_rwlock_timedrdlock(void *lock, const void *until);
int __mover_pthread_rwlock_clockrdlock(void *lock, int clock, const void *until) {
    return pthread_rwlock_timedrdlock(lock, until);
}
int pthread_rwlock_timedwrlock(void *lock, const void *until);
int __mover_pthread_rwlock_clockwrlock(void *lock, int clock, const void *until) {
    return pthread_rwlock_timedwrlock(lock, until);
}
int sem_timedwait(void *semaphore, const void *until);
int __mover_sem_clockwait(void *semaphore, int clock, const void *until) {
    return sem_timedwait(semaphore, until);
}
int __mover_clock_getres(int clock, long *to) {
    if (to) {
        to[0] = 0;
        to[1] = __VERIFIER_nondet_long();
        __VERIFIER_assume(to[1] > 0 && to[1] < 1000000000);
    }
    return 0;
}
int __mover_timespec_getres(long *to, int base) {
    __mover_clock_getres(0, to);
    return base;
}

/* Attributes without an effect keep their values for those who ask. The first word of those of a thread
 * is its detach state. */
int __mover_pthread_attr_setstacksize(size_t *attributes, size_t size) {
    attributes[1] = size;
    return 0;
}
int __mover_pthread_attr_getstacksize(const size_t *attributes, size_t *size) {
    *size = attributes[1];
    return 0;
}
int __mover_pthread_attr_setguardsize(size_t *attributes, size_t size) {
    attributes[2] = size;
    return 0;
}
int __mover_pthread_attr_getguardsize(const size_t *attributes, size_t *size) {
    *size = attributes[2];
    return 0;
}
#define __mover_SCOPE (sizeof(size_t) == 8 ? 1 : 3)
int __mover_pthread_attr_setscope(int *attributes, int scope) {
    attributes[__mover_SCOPE] = scope;
    return 0;
}
int __mover_pthread_attr_getscope(const int *attributes, int *scope) {
    *scope = attributes[__mover_SCOPE];
    return 0;
}
int __mover_pthread_attr_setschedpolicy(int *attributes, int policy) {
    attributes[6] = policy;
    return 0;
}
int __mover_pthread_attr_getschedpolicy(const int *attributes, int *policy) {
    *policy = attributes[6];
    return 0;
}
int __mover_pthread_attr_setschedparam(int *attributes, const int *from) {
    attributes[7] = *from;
    return 0;
}
int __mover_pthread_attr_getschedparam(const int *attributes, int *to) {
    *to = attributes[7];
    return 0;
}
int __mover_pthread_attr_setinheritsched(int *attributes, int inherits) {
    attributes[8] = inherits;
    return 0;
}
int __mover_pthread_attr_getinheritsched(const int *attributes, int *inherits) {
    *inherits = attributes[8];
    return 0;
}
/* One word: whether it is shared, and the clock. */
int __mover_pthread_condattr_setpshared(int *attributes, int shared) {
    *attributes = (*attributes & ~1) | shared;
    return 0;
}
int __mover_pthread_condattr_getpshared(const int *attributes, int *shared) {
    *shared = *attributes & 1;
    return 0;
}
int __mover_pthread_condattr_setclock(int *attributes, int clock) {
    *attributes = (*attributes & 1) | clock << 1;
    return 0;
}
int __mover_pthread_condattr_getclock(const int *attributes, int *clock) {
    *clock = *attributes >> 1;
    return 0;
}
int __mover_pthread_rwlockattr_setpshared(int *attributes, int shared) {
    attributes[0] = shared;
    return 0;
}
int __mover_pthread_rwlockattr_getpshared(const int *attributes, int *shared) {
    *shared = attributes[0];
    return 0;
}
int __mover_pthread_rwlockattr_setkind_np(int *attributes, int kind) {
    attributes[1] = kind;
    return 0;
}
int __mover_pthread_rwlockattr_getkind_np(const int *attributes, int *kind) {
    *kind = attributes[1];
    return 0;
}
int __mover_pthread_barrierattr_setpshared(int *attributes, int shared) {
    *attributes = shared;
    return 0;
}
int __mover_pthread_barrierattr_getpshared(const int *attributes, int *shared) {
    *shared = *attributes;
    return 0;
}

/* The order of bytes in a network is the other one on these machines. */
unsigned __mover_htonl(unsigned x) { return __builtin_bswap32(x); }
unsigned __mover_ntohl(unsigned x) { return __builtin_bswap32(x); }
unsigned short __mover_htons(unsigned short x) { return __builtin_bswap16(x); }
unsigned short __mover_ntohs(unsigned short x) { return __builtin_bswap16(x); }

/* How many processors a set has. */
int __mover___sched_cpucount(size_t size, const unsigned long *set) {
    int count = 0;
    for (size_t i = 0; i < size / sizeof *set; i++)
        count += __builtin_popcountl(set[i]);
    return count;
}
/* Some directory, or none that fits. */
char *__mover_getcwd(char *to, size_t room) {
    if (!to)
        __mover_unsupported("`getcwd` without memory for the result");
    unsigned length = 1 + __mover_choice(2);
    if (length + 1 > room || __VERIFIER_nondet_bool()) {
        *__mover___errno_location() = 34; /* ERANGE */
        return 0;
    }
    to[0] = '/';
    to[1] = 'x';
    to[length] = 0;
    return to;
}
static char __mover_signal_text[] = "signal";
char *__mover_strsignal(int number) { return __mover_signal_text; }

/* Messages before the end. */
void exit(int status);
void __mover_err(int status, const char *format, ...) { exit(status); }
void __mover_errx(int status, const char *format, ...) { exit(status); }
void __mover_warn(const char *format, ...) {}
void __mover_warnx(const char *format, ...) {}

/* Options of the command line. GNU sorts other arguments to the end; that is not modelled. */
__mover_variable(optarg) char *optarg;
__mover_variable(optind) int optind = 1;
__mover_variable(opterr) int opterr = 1;
__mover_variable(optopt) int optopt;
static const char *__mover_next_option;
int __mover_getopt(int count, char *const *arguments, const char *options) {
    if (!__mover_next_option || !*__mover_next_option) {
        if (optind >= count)
            return -1;
        const char *word = arguments[optind];
        if (word[0] != '-' || !word[1]) {
            for (int i = optind + 1; i < count; i++)
                if (arguments[i][0] == '-')
                    __mover_unsupported("`getopt` with an option behind another argument");
            return -1;
        }
        optind++;
        if (word[1] == '-' && !word[2])
            return -1;
        __mover_next_option = word + 1;
    }
    char option = *__mover_next_option++;
    if (*options == '+')
        options++;
    int is_silent = *options == ':';
    while (*options && (*options != option || option == ':'))
        options++;
    if (!*options) {
        optopt = option;
        return '?';
    }
    if (options[1] != ':')
        return option;
    optarg = (char *)__mover_next_option;
    __mover_next_option = 0;
    if (*optarg)
        return option;
    optarg = 0;
    if (options[2] == ':')
        return option;
    if (optind < count) {
        optarg = arguments[optind++];
        return option;
    }
    optopt = option;
    return is_silent ? ':' : '?';
}
