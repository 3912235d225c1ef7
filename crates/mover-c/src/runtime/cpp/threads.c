/* Threads, condition variables, waiting, memory and clocks of the C++ library. */

typedef union {
    int words[10];
    long align;
} pthread_mutex_t;
typedef union {
    int words[12];
    long align;
} pthread_cond_t;
int pthread_join(unsigned long, void **);
int pthread_detach(unsigned long);
int pthread_mutex_lock(void *);
int pthread_mutex_unlock(void *);
int pthread_cond_wait(void *, void *);
int pthread_cond_signal(void *);
int pthread_cond_broadcast(void *);
int pthread_cond_init(void *, void *);
long sysconf(int);
int pthread_mutex_timedlock(void *, const void *);
int pthread_rwlock_timedrdlock(void *, const void *);
int pthread_rwlock_timedwrlock(void *, const void *);
void __mover_terminate(const char *why);
void _ZSt20__throw_system_errori(int code);

void _ZNSt6thread4joinEv(unsigned long *this) {
    int error = *this ? pthread_join(*this, 0) : 22; /* EINVAL */
    if (error)
        _ZSt20__throw_system_errori(error);
    *this = 0;
}
void _ZNSt6thread6detachEv(unsigned long *this) {
    int error = *this ? pthread_detach(*this) : 22; /* EINVAL */
    if (error)
        _ZSt20__throw_system_errori(error);
    *this = 0;
}
unsigned _ZNSt6thread20hardware_concurrencyEv(void) { return (unsigned)sysconf(84); }
void _ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1000000000EEEE(long seconds, long nanoseconds) {}

int pthread_mutex_clocklock(void *mutex, int clock, const void *time) { return pthread_mutex_timedlock(mutex, time); }
int pthread_rwlock_clockrdlock(void *lock, int clock, const void *time) { return pthread_rwlock_timedrdlock(lock, time); }
int pthread_rwlock_clockwrlock(void *lock, int clock, const void *time) { return pthread_rwlock_timedwrlock(lock, time); }

/* std::condition_variable begins with a pthread_cond_t, std::unique_lock with a pointer to the mutex. */
void _ZNSt18condition_variableC1Ev(void *this) { pthread_cond_init(this, 0); }
void _ZNSt18condition_variableC2Ev(void *this) { pthread_cond_init(this, 0); }
void _ZNSt18condition_variableD1Ev(void *this) {}
void _ZNSt18condition_variableD2Ev(void *this) {}
void _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(void *this, void **lock) { pthread_cond_wait(this, *lock); }
void _ZNSt18condition_variable10notify_oneEv(void *this) { pthread_cond_signal(this); }
void _ZNSt18condition_variable10notify_allEv(void *this) { pthread_cond_broadcast(this); }

/* std::call_once puts what is to be called here. */
_Thread_local void *_ZSt15__once_callable = 0;
_Thread_local void (*_ZSt11__once_call)(void) = 0;
void __once_proxy(void) { _ZSt11__once_call(); }

/* Everybody who waits for some address to change sleeps here. */
static pthread_mutex_t __mover_wait_mutex;
static pthread_cond_t __mover_wait_condition;
void __mover_wait_begin(void) { pthread_mutex_lock(&__mover_wait_mutex); }
void __mover_wait_sleep(void) { pthread_cond_wait(&__mover_wait_condition, &__mover_wait_mutex); }
void __mover_wait_end(void) { pthread_mutex_unlock(&__mover_wait_mutex); }
void __mover_wait_notify(void) {
    pthread_mutex_lock(&__mover_wait_mutex);
    pthread_cond_broadcast(&__mover_wait_condition);
    pthread_mutex_unlock(&__mover_wait_mutex);
}
_Bool __mover_wait_gives_up(void) { return __mover_choice(2); }
_Bool _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(void *this, unsigned *at, unsigned value, _Bool is_timed, long seconds, long nanoseconds) {
    if (is_timed && __mover_choice(2))
        return 0;
    __mover_wait_begin();
    if (__atomic_load_n(at, 5) == value)
        __mover_wait_sleep();
    __mover_wait_end();
    return 1;
}
_Bool _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(void *this, unsigned *at, unsigned value, _Bool is_timed, long seconds, long nanoseconds) {
    return _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(this, at, value, is_timed, seconds, nanoseconds);
}
void _ZNSt28__atomic_futex_unsigned_base19_M_futex_notify_allEPj(void *this, unsigned *at) { __mover_wait_notify(); }

/* Clocks stand still or go on by some eighteen minutes, three times at most. */
static int __mover_clock_jumps;
void __mover_reads_clock(void);
static long __mover_cpp_clock(void) {
    __mover_reads_clock();
    __VERIFIER_atomic_begin();
    if (__mover_clock_jumps < 3 && __mover_choice(2))
        __mover_clock_jumps++;
    long now = (1 + (long)__mover_clock_jumps) << 40;
    __VERIFIER_atomic_end();
    return now;
}
long _ZNSt6chrono3_V212steady_clock3nowEv(void) { return __mover_cpp_clock(); }
long _ZNSt6chrono3_V212system_clock3nowEv(void) { return __mover_cpp_clock(); }

/* Whether the program has only one thread is never looked at. */
const char __libc_single_threaded = 0;
