/* Waiting for input: what is ready is any of what was asked for. */

struct __mover_pollfd {
    int file;
    short wanted;
    short ready;
};
/* A call fails only because a signal interrupts it. */
static int __mover_interrupted(void) {
    *__mover___errno_location() = 4; /* EINTR */
    return -1;
}
int __mover_poll(struct __mover_pollfd *files, unsigned long count, int timeout) {
    int ready = 0;
    if (__mover_choice(2))
        return __mover_interrupted();
    for (unsigned long i = 0; i < count; i++) {
        /* What was asked for, or POLLERR, POLLHUP, POLLNVAL. */
        short events = files[i].file < 0 ? 0 : __VERIFIER_nondet_short();
        files[i].ready = (short)(events & (files[i].wanted | 0x38));
        ready += files[i].ready != 0;
    }
    __VERIFIER_assume(ready > 0 || timeout >= 0);
    return ready;
}
int __mover_ppoll(struct __mover_pollfd *files, unsigned long count, const void *timeout,
                  const void *mask) {
    return __mover_poll(files, count, timeout ? 0 : -1);
}

#define __mover_LONG_BITS (8 * (int)sizeof(long))
static int __mover_select_from(unsigned long *set, int most) {
    int ready = 0;
    if (!set)
        return 0;
    for (int file = 0; file < most; file++) {
        unsigned long bit = 1ul << file % __mover_LONG_BITS;
        if (!(set[file / __mover_LONG_BITS] & bit))
            continue;
        if (__mover_choice(2))
            ready++;
        else
            set[file / __mover_LONG_BITS] &= ~bit;
    }
    return ready;
}
int __mover_pselect(int most, unsigned long *reads, unsigned long *writes, unsigned long *errors,
                    const void *timeout, const void *mask) {
    if (__mover_choice(2))
        return __mover_interrupted();
    int ready = __mover_select_from(reads, most) + __mover_select_from(writes, most) +
                __mover_select_from(errors, most);
    __VERIFIER_assume(ready > 0 || timeout);
    return ready;
}
/* Linux leaves the rest of the time in the timeout, other systems do not touch it. */
int __mover_select(int most, unsigned long *reads, unsigned long *writes, unsigned long *errors,
                   long *timeout) {
    int ready = __mover_pselect(most, reads, writes, errors, timeout, 0);
    if (timeout && __mover_choice(2)) {
        timeout[0] = ready == 0 ? 0 : __VERIFIER_nondet_long();
        timeout[1] = ready == 0 ? 0 : __VERIFIER_nondet_long();
    }
    return ready;
}
