/* Destructors of thread_local variables, which run when their thread ends. */

#define __mover_MOST_THREAD_EXITS 8
struct __mover_thread_exit {
    void (*destroy)(void *);
    void *object;
};
static _Thread_local struct __mover_thread_exit __mover_thread_exits[__mover_MOST_THREAD_EXITS];
static _Thread_local unsigned __mover_thread_exit_count;
int __cxa_thread_atexit(void (*destroy)(void *), void *object, void *dso) {
    if (__mover_thread_exit_count == __mover_MOST_THREAD_EXITS)
        __mover_unsupported("a thread with more than 8 thread_local variables that have destructors");
    __mover_thread_exits[__mover_thread_exit_count].destroy = destroy;
    __mover_thread_exits[__mover_thread_exit_count].object = object;
    __mover_thread_exit_count++;
    return 0;
}
void __mover_run_thread_exits(void) {
    while (__mover_thread_exit_count > 0) {
        __mover_thread_exit_count--;
        struct __mover_thread_exit *last = &__mover_thread_exits[__mover_thread_exit_count];
        last->destroy(last->object);
    }
}
