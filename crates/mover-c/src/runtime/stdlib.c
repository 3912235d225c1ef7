/* Numbers from text, sorting, random numbers, the process. */

#define __mover_ERANGE 34
#define __mover_EINVAL 22

/* Digits of a base from 2 to 36, after white space and a sign; `most` bounds the magnitude. */
static unsigned long long __mover_number(const char *text, char **end, int base,
                                         unsigned long long most_positive,
                                         unsigned long long most_negative, int is_signed) {
    const char *at = text;
    int negative = 0;
    if (base < 0 || base == 1 || base > 36) {
        *__mover___errno_location() = __mover_EINVAL;
        if (end)
            *end = (char *)text;
        return 0;
    }
    while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
        at++;
    if (*at == '+' || *at == '-')
        negative = *at++ == '-';
    int is_hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X') &&
                         ((at[2] >= '0' && at[2] <= '9') || (at[2] >= 'a' && at[2] <= 'f') ||
                          (at[2] >= 'A' && at[2] <= 'F'));
    if ((base == 0 || base == 16) && is_hexadecimal) {
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = *at == '0' ? 8 : 10;
    }
    unsigned long long value = 0, most = is_signed && negative ? most_negative : most_positive;
    int any = 0, overflows = 0;
    for (;; at++) {
        int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                    : *at >= 'a' && *at <= 'z' ? *at - 'a' + 10
                    : *at >= 'A' && *at <= 'Z' ? *at - 'A' + 10
                                               : 36;
        if (digit >= base)
            break;
        any = 1;
        if (value > (most - (unsigned)digit) / (unsigned)base)
            overflows = 1;
        else
            value = value * (unsigned)base + (unsigned)digit;
    }
    if (end)
        *end = (char *)(any ? at : text);
    if (overflows) {
        *__mover___errno_location() = __mover_ERANGE;
        return is_signed && negative ? 0 - most : most;
    }
    return negative ? 0 - value : value;
}

#define __mover_LONG_MAX ((unsigned long)-1 >> 1)
#define __mover_LLONG_MAX ((unsigned long long)-1 >> 1)
long __mover_strtol(const char *text, char **end, int base) {
    return (long)__mover_number(text, end, base, __mover_LONG_MAX, __mover_LONG_MAX + 1, 1);
}
unsigned long __mover_strtoul(const char *text, char **end, int base) {
    return (unsigned long)__mover_number(text, end, base, (unsigned long)-1, 0, 0);
}
long long __mover_strtoll(const char *text, char **end, int base) {
    return (long long)__mover_number(text, end, base, __mover_LLONG_MAX, __mover_LLONG_MAX + 1, 1);
}
unsigned long long __mover_strtoull(const char *text, char **end, int base) {
    return __mover_number(text, end, base, (unsigned long long)-1, 0, 0);
}
int __mover_atoi(const char *text) { return (int)__mover_strtol(text, 0, 10); }
long __mover_atol(const char *text) { return __mover_strtol(text, 0, 10); }
long long __mover_atoll(const char *text) { return __mover_strtoll(text, 0, 10); }

static void __mover_swap(char *a, char *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char c = a[i];
        a[i] = b[i];
        b[i] = c;
    }
}
/* Equal elements come in some order: here their own. */
void __mover_qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    char *all = base;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && compare(all + (j - 1) * size, all + j * size) > 0; j--)
            __mover_swap(all + (j - 1) * size, all + j * size, size);
}
void *__mover_bsearch(const void *key, const void *base, size_t count, size_t size,
                      int (*compare)(const void *, const void *)) {
    const char *all = base;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(key, all + middle * size);
        if (order == 0)
            return (void *)(all + middle * size);
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

void __mover_qsort_r(void *base, size_t count, size_t size,
                     int (*compare)(const void *, const void *, void *), void *argument) {
    char *all = base;
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && compare(all + (j - 1) * size, all + j * size, argument) > 0; j--)
            __mover_swap(all + (j - 1) * size, all + j * size, size);
}
void *__mover_lfind(const void *key, const void *base, size_t *count, size_t size,
                    int (*compare)(const void *, const void *)) {
    const char *all = base;
    for (size_t i = 0; i < *count; i++)
        if (compare(key, all + i * size) == 0)
            return (void *)(all + i * size);
    return 0;
}

/* Random numbers are any numbers. */
static int __mover_any_positive(void) {
    int value = __VERIFIER_nondet_int();
    __VERIFIER_assume(value >= 0);
    return value;
}
int __mover_rand(void) { return __mover_any_positive(); }
int __mover_rand_r(unsigned *seed) {
    *seed = (unsigned)__VERIFIER_nondet_int();
    return __mover_any_positive();
}
long __mover_random(void) { return __mover_any_positive(); }
long __mover_lrand48(void) { return __mover_any_positive(); }
long __mover_mrand48(void) { return __VERIFIER_nondet_int(); }
/* A number from 0 to 1, without 1. */
double __mover_drand48(void) {
    union {
        unsigned long long bits;
        double value;
    } number = {(unsigned long long)__VERIFIER_nondet_longlong()};
    __VERIFIER_assume(number.bits < 0x3FF0000000000000ull);
    return number.value;
}
static void __mover_any_seed(unsigned short *seed) {
    for (int i = 0; i < 3; i++)
        seed[i] = (unsigned short)__VERIFIER_nondet_short();
}
double __mover_erand48(unsigned short *seed) {
    __mover_any_seed(seed);
    return __mover_drand48();
}
long __mover_nrand48(unsigned short *seed) {
    __mover_any_seed(seed);
    return __mover_any_positive();
}
long __mover_jrand48(unsigned short *seed) {
    __mover_any_seed(seed);
    return __VERIFIER_nondet_int();
}
static unsigned short __mover_old_seed[3];
unsigned short *__mover_seed48(unsigned short *seed) {
    __mover_any_seed(__mover_old_seed);
    return __mover_old_seed;
}

/* The process. */
static int __mover_process;
int __mover_getpid(void) {
    __VERIFIER_atomic_begin();
    if (__mover_process == 0) {
        __mover_process = __VERIFIER_nondet_int();
        __VERIFIER_assume(__mover_process > 0);
    }
    int process = __mover_process;
    __VERIFIER_atomic_end();
    return process;
}
int __mover_getppid(void) { return __mover_any_positive(); }

/* Functions that run where the process ends by itself, the last one first. */
#define __mover_MOST_HANDLERS 32
struct __mover_exit_handler {
    void (*plain)(void);
    void (*told)(int, void *);
    void (*destroys)(void *);
    void *argument;
};
static struct __mover_exit_handler __mover_handlers[__mover_MOST_HANDLERS];
static unsigned __mover_handler_count;
static int __mover_register(void (*plain)(void), void (*told)(int, void *), void (*destroys)(void *),
                            void *argument) {
    __VERIFIER_atomic_begin();
    unsigned at = __mover_handler_count;
    if (at < __mover_MOST_HANDLERS) {
        __mover_handlers[at].plain = plain;
        __mover_handlers[at].told = told;
        __mover_handlers[at].destroys = destroys;
        __mover_handlers[at].argument = argument;
        __mover_handler_count = at + 1;
    }
    __VERIFIER_atomic_end();
    if (at >= __mover_MOST_HANDLERS)
        __mover_unsupported("more than 32 functions registered with `atexit`");
    return 0;
}
int __mover_atexit(void (*handler)(void)) { return __mover_register(handler, 0, 0, 0); }
int __mover_on_exit(void (*handler)(int, void *), void *argument) {
    return __mover_register(0, handler, 0, argument);
}
/* The destructor of an object of C++ that lasts as long as the program. */
int __mover___cxa_atexit(void (*destroys)(void *), void *object, void *dso) {
    return __mover_register(0, 0, destroys, object);
}
void __mover_run_handlers(int status) {
    while (__mover_handler_count > 0) {
        __mover_handler_count--;
        struct __mover_exit_handler *last = &__mover_handlers[__mover_handler_count];
        if (last->told)
            last->told(status, last->argument);
        else if (last->destroys)
            last->destroys(last->argument);
        else
            last->plain();
    }
}

struct __mover_int_division {
    int quotient, rest;
};
struct __mover_int_division __mover_div(int a, int b) {
    return (struct __mover_int_division){a / b, a % b};
}
struct __mover_long_division {
    long quotient, rest;
};
struct __mover_long_division __mover_ldiv(long a, long b) {
    return (struct __mover_long_division){a / b, a % b};
}
struct __mover_long_long_division {
    long long quotient, rest;
};
struct __mover_long_long_division __mover_lldiv(long long a, long long b) {
    return (struct __mover_long_long_division){a / b, a % b};
}
struct __mover_long_long_division __mover_imaxdiv(long long a, long long b) {
    return (struct __mover_long_long_division){a / b, a % b};
}
long long __mover_imaxabs(long long x) { return x < 0 ? -x : x; }
long long __mover_strtoimax(const char *text, char **end, int base) {
    return __mover_strtoll(text, end, base);
}
unsigned long long __mover_strtoumax(const char *text, char **end, int base) {
    return __mover_strtoull(text, end, base);
}
void *__mover_aligned_alloc(size_t alignment, size_t size);
void *__mover_memalign(size_t alignment, size_t size) {
    return __mover_aligned_alloc(alignment, size);
}
void *__mover_valloc(size_t size) { return __mover_aligned_alloc(4096, size); }
/* At least what was asked for. */
size_t __mover_malloc_usable_size(void *p) {
    if (!p)
        return 0;
    size_t size = (size_t)__VERIFIER_nondet_long();
    __VERIFIER_assume(size >= __mover_object_size(p) && size < (size_t)-1 / 2);
    return size;
}
void *__mover_realloc(void *old, size_t size);
void *__mover_reallocarray(void *old, size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        *__mover___errno_location() = 12; /* ENOMEM */
        return 0;
    }
    return __mover_realloc(old, all);
}
