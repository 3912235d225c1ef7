/* What all parts of the runtime library use.
 *
 * The runtime has the functions of the C library that are loops over memory, formatting or
 * choices. They are compiled with the program and called in place of the library's, so that
 * their accesses are checked like those of the program. `f` is here as `__mover_f`. What they do
 * with memory counts as done on the line of the call. Parts of it that the program does not need
 * are left out.
 */

typedef __SIZE_TYPE__ size_t;

/* A variable that programs declare and no file of theirs defines. */
#define __mover_variable(name) __attribute__((weak))

void *__mover_allocate(size_t size);
void *__mover_allocate_zeroed(size_t size);
size_t __mover_object_size(const void *p);
void __mover_release(void *p);
void __mover_bad_free(void *p);
/* Any number below the constant `values`. */
unsigned __mover_choice(unsigned values);
/* A run that comes here is not followed further. */
void __mover_unsupported(const char *what);
size_t __mover_strlen(const char *s);
void *__mover_memcpy(void *to, const void *from, size_t n);
int *__mover___errno_location(void);

_Bool __VERIFIER_nondet_bool(void);
char __VERIFIER_nondet_char(void);
short __VERIFIER_nondet_short(void);
int __VERIFIER_nondet_int(void);
long __VERIFIER_nondet_long(void);
long long __VERIFIER_nondet_longlong(void);
void __VERIFIER_assume(int);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
