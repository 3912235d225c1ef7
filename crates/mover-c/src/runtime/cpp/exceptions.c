/* Exceptions: what the C++ ABI calls the second level. How they find their handlers is in
 * flatten/exceptions.rs. */

/* Stands before each exception. What flies is its address; one that is thrown again from an
 * `exception_ptr`, perhaps by another thread, has a record of its own. */
struct __mover_exception {
    unsigned type;
    int handlers; /* negative while it is thrown again */
    struct __mover_exception *next;
    struct __mover_exception *primary;
    void (*destroy)(void *);
    int references;
    int unused[3];
};
unsigned __mover_type_number(const void *type);
void __mover_unwind(struct __mover_exception *exception, unsigned type);
void __mover_terminate(const char *why);
void free(void *);
static _Thread_local struct __mover_exception *__mover_caught;
static _Thread_local unsigned __mover_uncaught;

void __mover_resume_exception(struct __mover_exception *exception) {
    __mover_unwind(exception, exception->type);
}
void *__cxa_allocate_exception(size_t size) {
    struct __mover_exception *new = __mover_allocate_zeroed(sizeof *new + size);
    new->primary = new;
    return new + 1;
}
void __cxa_free_exception(void *object) { free((struct __mover_exception *)object - 1); }
void *__cxa_init_primary_exception(void *object, const void *type, void (*destroy)(void *)) {
    struct __mover_exception *exception = (struct __mover_exception *)object - 1;
    exception->type = __mover_type_number(type);
    exception->destroy = destroy;
    return exception;
}
void __cxa_throw(void *object, const void *type, void (*destroy)(void *)) {
    struct __mover_exception *exception = (struct __mover_exception *)object - 1;
    exception->type = __mover_type_number(type);
    exception->destroy = destroy;
    exception->references = 1;
    __mover_uncaught++;
    __mover_unwind(exception, __mover_type_number(type));
}
void *__cxa_get_exception_ptr(struct __mover_exception *exception) {
    return exception->primary + 1;
}
void *__cxa_begin_catch(struct __mover_exception *exception) {
    int handlers = exception->handlers;
    exception->handlers = handlers < 0 ? 1 - handlers : 1 + handlers;
    __mover_uncaught--;
    if (exception != __mover_caught) {
        exception->next = __mover_caught;
        __mover_caught = exception;
    }
    return exception->primary + 1;
}
static void __mover_release_exception(struct __mover_exception *primary) {
    if (__atomic_sub_fetch(&primary->references, 1, 5) == 0) {
        if (primary->destroy)
            primary->destroy(primary + 1);
        free(primary);
    }
}
void __cxa_end_catch(void) {
    struct __mover_exception *exception = __mover_caught;
    if (!exception)
        return;
    if (exception->handlers < 0) {
        exception->handlers++;
        if (exception->handlers == 0)
            __mover_caught = exception->next;
        return;
    }
    exception->handlers--;
    if (exception->handlers > 0)
        return;
    __mover_caught = exception->next;
    struct __mover_exception *primary = exception->primary;
    if (exception != primary)
        free(exception);
    __mover_release_exception(primary);
}
void __cxa_rethrow(void) {
    struct __mover_exception *exception = __mover_caught;
    if (!exception)
        __mover_terminate("`throw;` without an exception that is handled");
    exception->handlers = -exception->handlers;
    __mover_uncaught++;
    __mover_unwind(exception, exception->type);
}
_Bool _ZSt18uncaught_exceptionv(void) { return __mover_uncaught != 0; }
int _ZSt19uncaught_exceptionsv(void) { return (int)__mover_uncaught; }

/* std::exception_ptr */
void _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(void **this) {
    if (*this)
        __atomic_fetch_add(&((struct __mover_exception *)*this)[-1].references, 1, 5);
}
void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **this) {
    if (*this) {
        __mover_release_exception((struct __mover_exception *)*this - 1);
        *this = 0;
    }
}
void _ZNSt15__exception_ptr13exception_ptrC1EPv(void **this, void *object) {
    *this = object;
    _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(this);
}
void _ZSt17current_exceptionv(void **result) {
    *result = __mover_caught ? __mover_caught->primary + 1 : 0;
    _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(result);
}
void _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(void **pointer) {
    struct __mover_exception *again = __mover_allocate_zeroed(sizeof *again);
    again->primary = (struct __mover_exception *)*pointer - 1;
    again->type = again->primary->type;
    _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(pointer);
    __mover_uncaught++;
    __mover_unwind(again, again->type);
}
