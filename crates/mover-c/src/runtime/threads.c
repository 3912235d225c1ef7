/* What the thread library and libatomic have beyond primitives. */

/* Atomic accesses to objects of any size. */
void __mover___atomic_load(size_t size, const void *from, void *to, int order) {
    __VERIFIER_atomic_begin();
    __mover_memcpy(to, from, size);
    __VERIFIER_atomic_end();
}
void __mover___atomic_store(size_t size, void *to, const void *from, int order) {
    __VERIFIER_atomic_begin();
    __mover_memcpy(to, from, size);
    __VERIFIER_atomic_end();
}
void __mover___atomic_exchange(size_t size, void *at, const void *from, void *old, int order) {
    __VERIFIER_atomic_begin();
    const char *new_bytes = from;
    char *bytes = at, *old_bytes = old;
    for (size_t i = 0; i < size; i++) {
        char new_byte = new_bytes[i];
        old_bytes[i] = bytes[i];
        bytes[i] = new_byte;
    }
    __VERIFIER_atomic_end();
}
_Bool __mover___atomic_compare_exchange(size_t size, void *at, void *expected, const void *from,
                                        int success, int failure) {
    __VERIFIER_atomic_begin();
    const char *bytes = at, *wanted = expected;
    size_t i = 0;
    while (i < size && bytes[i] == wanted[i])
        i++;
    if (i == size)
        __mover_memcpy(at, from, size);
    else
        __mover_memcpy(expected, at, size);
    __VERIFIER_atomic_end();
    return i == size;
}
_Bool __mover___atomic_compare_exchange_weak(size_t size, void *at, void *expected, const void *from,
                                    int success, int failure) {
    if (__mover_choice(2)) {
        __mover___atomic_load(size, at, expected, failure);
        return 0;
    }
    return __mover___atomic_compare_exchange(size, at, expected, from, success, failure);
}
_Bool __mover___atomic_is_lock_free(size_t size, const void *at) { return size <= sizeof(size_t); }

/* Cancellation: see flatten/cancellation.rs. */
static _Thread_local int __mover_cancel_state, __mover_cancel_type;
int __mover_program_cancels(void);
int __mover_cancel_enabled(void) { return __mover_cancel_state == 0; }
int __mover_pthread_setcancelstate(int state, int *old) {
    if (state != 0 && state != 1)
        return 22; /* EINVAL */
    if (old)
        *old = __mover_cancel_state;
    __mover_cancel_state = state;
    return 0;
}
int __mover_pthread_setcanceltype(int type, int *old) {
    if (type != 0 && type != 1)
        return 22; /* EINVAL */
    if (type == 1 && __mover_program_cancels())
        __mover_unsupported("asynchronous cancellation");
    if (old)
        *old = __mover_cancel_type;
    __mover_cancel_type = type;
    return 0;
}

/* Attributes: their first word has what is respected, see flatten/library.rs. */
int __mover_pthread_attr_getdetachstate(const int *attributes, int *state) {
    *state = *attributes;
    return 0;
}
int __mover_pthread_mutexattr_gettype(const int *attributes, int *type) {
    *type = *attributes & 3;
    return 0;
}
int __mover_pthread_mutexattr_settype(int *attributes, int type) {
    *attributes = (*attributes & 4) | type;
    return 0;
}
int __mover_pthread_mutexattr_setrobust(int *attributes, int robust) {
    if (robust != 0 && robust != 1)
        return 22; /* EINVAL */
    *attributes = (*attributes & 3) | robust << 2;
    return 0;
}
int __mover_pthread_mutexattr_getrobust(const int *attributes, int *robust) {
    *robust = *attributes >> 2 & 1;
    return 0;
}

/* The robust mutexes that a thread holds; their third word says that they are robust. */
#define __mover_MOST_ROBUST 8
static _Thread_local int *__mover_robust[__mover_MOST_ROBUST];
static _Thread_local int __mover_robust_count;
int __mover_owner_died(int *mutex);
int __mover_robust_taken(int *mutex, int error) {
    if ((error == 0 || error == 130) && (__atomic_load_n(&mutex[2], 5) & 1)) {
        if (__mover_robust_count == __mover_MOST_ROBUST)
            __mover_unsupported("a thread that holds more than 8 robust mutexes");
        __mover_robust[__mover_robust_count++] = mutex;
    }
    return error;
}
void __mover_robust_given(int *mutex) {
    for (int i = __mover_robust_count - 1; i >= 0; i--) {
        if (__mover_robust[i] != mutex)
            continue;
        __mover_robust_count--;
        __mover_robust[i] = __mover_robust[__mover_robust_count];
        __mover_robust[__mover_robust_count] = 0;
        return;
    }
}
void __mover_leave_mutexes(void) {
    for (int i = 0; i < __mover_robust_count; i++)
        __mover_owner_died(__mover_robust[i]);
}

/* Signals: nobody sends one, but a thread may send itself one. */
void _exit(int);
int __mover_sets_signals(void);
int __mover_raise(int number) {
    if (number < 0 || number > 64) {
        *__mover___errno_location() = 22; /* EINVAL */
        return -1;
    }
    if (number == 0)
        return 0;
    if (__mover_sets_signals())
        __mover_unsupported("`raise` in a program that sets what signals do");
    if (number >= 19 && number <= 22)
        __mover_unsupported("`raise` of a signal that stops the process");
    /* SIGCHLD, SIGCONT, SIGURG, SIGWINCH */
    if (number != 17 && number != 18 && number != 23 && number != 28)
        _exit(128 + number);
    return 0;
}
int __mover_sigemptyset(void *set) {
    *(size_t *)set = 0;
    return 0;
}
int __mover_sigfillset(void *set) {
    *(size_t *)set = (size_t)-1;
    return 0;
}
int __mover_sigaddset(size_t *set, int number) {
    *set |= (size_t)1 << ((number - 1) % (8 * (int)sizeof(size_t)));
    return 0;
}
