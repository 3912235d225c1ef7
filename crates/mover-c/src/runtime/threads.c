/* What the thread library and libatomic have beyond primitives. */

#define __mover_EBUSY 16
#define __mover_ETIMEDOUT 110
int pthread_join(size_t thread, void **result);

/* Whether the thread has ended is not asked: the call may say that it has not. */
int __mover_pthread_tryjoin_np(size_t thread, void **result) {
    return __mover_choice(2) ? pthread_join(thread, result) : __mover_EBUSY;
}
int __mover_pthread_timedjoin_np(size_t thread, void **result, const void *until) {
    return __mover_choice(2) ? pthread_join(thread, result) : __mover_ETIMEDOUT;
}
int __mover_pthread_clockjoin_np(size_t thread, void **result, int clock, const void *until) {
    return __mover_pthread_timedjoin_np(thread, result, until);
}

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
_Bool __mover___atomic_is_lock_free(size_t size, const void *at) { return size <= sizeof(size_t); }

/* Cancellation does not happen: `pthread_cancel` is not supported. */
static _Thread_local int __mover_cancel_state, __mover_cancel_type;
int __mover_pthread_setcancelstate(int state, int *old) {
    if (old)
        *old = __mover_cancel_state;
    __mover_cancel_state = state;
    return 0;
}
int __mover_pthread_setcanceltype(int type, int *old) {
    if (old)
        *old = __mover_cancel_type;
    __mover_cancel_type = type;
    return 0;
}

/* Signals: nobody sends one. */
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
