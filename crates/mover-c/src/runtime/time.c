/* Clocks. They never go back; besides that they may show anything. All clocks show one time. */

struct __mover_timespec {
    long sec;
    long nsec;
};
static long __mover_now;
static long __mover_nanoseconds;
/* The clock goes on by any amount. */
static struct __mover_timespec __mover_tick(void) {
    struct __mover_timespec now;
    __VERIFIER_atomic_begin();
    now.sec = __VERIFIER_nondet_long();
    now.nsec = __VERIFIER_nondet_long();
    __VERIFIER_assume(now.nsec >= 0 && now.nsec < 1000000000);
    __VERIFIER_assume(now.sec > __mover_now ||
                      (now.sec == __mover_now && now.nsec >= __mover_nanoseconds));
    __mover_now = now.sec;
    __mover_nanoseconds = now.nsec;
    __VERIFIER_atomic_end();
    return now;
}
int __mover_clock_gettime(int clock, struct __mover_timespec *to) {
    *to = __mover_tick();
    return 0;
}
int __mover_timespec_get(struct __mover_timespec *to, int base) {
    *to = __mover_tick();
    return base;
}
int __mover_gettimeofday(struct __mover_timespec *to, void *zone) {
    struct __mover_timespec now = __mover_tick();
    to->sec = now.sec;
    to->nsec = now.nsec / 1000;
    return 0;
}
long __mover_time(long *to) {
    long now = __mover_tick().sec;
    if (to)
        *to = now;
    return now;
}
long __mover_clock(void) { return __mover_tick().sec; }
double __mover_difftime(long later, long earlier) { return (double)(later - earlier); }
/* Sleeping takes no time, but not every time is one (POSIX: EINVAL). */
static _Bool __mover_is_time(const struct __mover_timespec *time) {
    return time->sec >= 0 && time->nsec >= 0 && time->nsec < 1000000000;
}
int __mover_nanosleep(const struct __mover_timespec *time, struct __mover_timespec *rest) {
    if (__mover_is_time(time))
        return 0;
    *__mover___errno_location() = 22;
    return -1;
}
int __mover_clock_nanosleep(int clock, int flags, const struct __mover_timespec *time, struct __mover_timespec *rest) {
    return __mover_is_time(time) ? 0 : 22;
}
