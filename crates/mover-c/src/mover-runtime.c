/* The functions of the C library that are nothing but loops over memory.
 *
 * They are compiled with the program and called in place of the library's, so
 * that their accesses are checked like those of the program. `f` is here as
 * `__mover_f`. What they do with memory counts as done on the line of the call.
 */

typedef __SIZE_TYPE__ size_t;

void *__mover_allocate(size_t size);
void *__mover_allocate_zeroed(size_t size);
size_t __mover_object_size(const void *p);
void __mover_release(void *p);
void __mover_bad_free(void *p);
_Bool __VERIFIER_nondet_bool(void);
char __VERIFIER_nondet_char(void);
unsigned short __VERIFIER_nondet_ushort(void);
unsigned long __VERIFIER_nondet_ulong(void);

/* Words where both sides are aligned: pointers are then copied whole. */
void *__mover_memcpy(void *to, const void *from, size_t n) {
    char *d = to;
    const char *s = from;
    while (n >= sizeof(size_t) && (((size_t)d | (size_t)s) & (sizeof(size_t) - 1)) == 0) {
        *(size_t *)d = *(const size_t *)s;
        d += sizeof(size_t);
        s += sizeof(size_t);
        n -= sizeof(size_t);
    }
    while (n >= 4 && (((size_t)d | (size_t)s) & 3) == 0) {
        *(unsigned *)d = *(const unsigned *)s;
        d += 4;
        s += 4;
        n -= 4;
    }
    while (n > 0) {
        *d = *s;
        d++;
        s++;
        n--;
    }
    return to;
}

/* An array of ints: another thread can see that only some are copied. */
void *__mover_memcpy_of_ints(void *to, const void *from, size_t n) {
    unsigned *d = to;
    const unsigned *s = from;
    if ((((size_t)d | (size_t)s) & 3) != 0)
        return __mover_memcpy(to, from, n);
    while (n >= 4) {
        *d = *s;
        d++;
        s++;
        n -= 4;
    }
    return __mover_memcpy(d, s, n);
}

void *__mover_memmove(void *to, const void *from, size_t n) {
    char *d = to;
    const char *s = from;
    if ((size_t)d <= (size_t)s)
        return __mover_memcpy(to, from, n);
    while (n > 0 && (((size_t)(d + n) | (size_t)(s + n)) & (sizeof(size_t) - 1)) != 0) {
        n--;
        d[n] = s[n];
    }
    while (n >= sizeof(size_t)) {
        n -= sizeof(size_t);
        *(size_t *)(d + n) = *(const size_t *)(s + n);
    }
    while (n > 0) {
        n--;
        d[n] = s[n];
    }
    return to;
}

void *__mover_memmove_of_ints(void *to, const void *from, size_t n) {
    unsigned *d = to;
    const unsigned *s = from;
    if ((size_t)d <= (size_t)s)
        return __mover_memcpy_of_ints(to, from, n);
    if ((((size_t)d | (size_t)s | n) & 3) != 0)
        return __mover_memmove(to, from, n);
    for (size_t i = n / 4; i > 0; i--)
        d[i - 1] = s[i - 1];
    return to;
}

void *__mover_memset(void *to, int c, size_t n) {
    char *d = to;
    size_t word = (unsigned char)c * ((size_t)-1 / 255);
    while (n >= sizeof(size_t) && ((size_t)d & (sizeof(size_t) - 1)) == 0) {
        *(size_t *)d = word;
        d += sizeof(size_t);
        n -= sizeof(size_t);
    }
    while (n > 0) {
        *d = (char)c;
        d++;
        n--;
    }
    return to;
}

void *__mover_memset_of_ints(void *to, int c, size_t n) {
    unsigned *d = to;
    unsigned word = (unsigned char)c * 0x01010101u;
    if ((((size_t)d | n) & 3) != 0)
        return __mover_memset(to, c, n);
    for (size_t i = 0; i < n / 4; i++)
        d[i] = word;
    return to;
}

int __mover_memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *p = a, *q = b;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = p[i], y = q[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

void *__mover_memchr(const void *a, int c, size_t n) {
    const unsigned char *p = a;
    for (size_t i = 0; i < n; i++)
        if (p[i] == (unsigned char)c)
            return (void *)(p + i);
    return 0;
}

size_t __mover_strlen(const char *s) {
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

size_t __mover_strnlen(const char *s, size_t most) {
    size_t n = 0;
    while (n < most && s[n])
        n++;
    return n;
}

char *__mover_strcpy(char *to, const char *from) {
    size_t i = 0;
    char c;
    do {
        c = from[i];
        to[i] = c;
        i++;
    } while (c);
    return to;
}

char *__mover_strncpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    for (; i < n; i++) {
        char c = from[i];
        to[i] = c;
        if (!c)
            break;
    }
    for (; i < n; i++)
        to[i] = 0;
    return to;
}

char *__mover_strcat(char *to, const char *from) {
    __mover_strcpy(to + __mover_strlen(to), from);
    return to;
}

char *__mover_strncat(char *to, const char *from, size_t n) {
    size_t end = __mover_strlen(to), i = 0;
    for (; i < n; i++) {
        char c = from[i];
        if (!c)
            break;
        to[end + i] = c;
    }
    to[end + i] = 0;
    return to;
}

int __mover_strcmp(const char *a, const char *b) {
    for (size_t i = 0;; i++) {
        unsigned char x = a[i], y = b[i];
        if (x != y)
            return x < y ? -1 : 1;
        if (!x)
            return 0;
    }
}

int __mover_strncmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char x = a[i], y = b[i];
        if (x != y)
            return x < y ? -1 : 1;
        if (!x)
            return 0;
    }
    return 0;
}

char *__mover_strchr(const char *s, int c) {
    for (;; s++) {
        char x = *s;
        if (x == (char)c)
            return (char *)s;
        if (!x)
            return 0;
    }
}

char *__mover_strrchr(const char *s, int c) {
    const char *found = 0;
    for (;; s++) {
        char x = *s;
        if (x == (char)c)
            found = s;
        if (!x)
            return (char *)found;
    }
}

char *__mover_strdup(const char *s) {
    size_t n = __mover_strlen(s) + 1;
    char *copy = __mover_allocate_zeroed(n); /* all of it is written below */
    if (!copy)
        return 0;
    __mover_memcpy(copy, s, n);
    return copy;
}

void *__mover_calloc(size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all))
        return 0;
    return __mover_allocate_zeroed(all);
}

void *__mover_realloc(void *old, size_t size) {
    if (!old)
        return __mover_allocate(size);
    __mover_bad_free(old);
    if (size == 0 && __VERIFIER_nondet_bool()) {
        __mover_release(old);
        return 0;
    }
    size_t had = __mover_object_size(old);
    void *fresh = __mover_allocate(size);
    if (!fresh)
        return 0;
    __mover_memcpy(fresh, old, had < size ? had : size);
    __mover_release(old);
    return fresh;
}

static int is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

/* An alignment that the implementation does not support has no defined effect
 * in C11; since C17 the call fails, as it does in glibc. */
void *__mover_aligned_alloc(size_t alignment, size_t size) {
    if (!is_power_of_two(alignment))
        return 0;
    return __mover_allocate(size);
}

int __mover_posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || !is_power_of_two(alignment))
        return 22; /* EINVAL */
    void *fresh = __mover_allocate(size);
    if (!fresh)
        return 12; /* ENOMEM */
    *result = fresh;
    return 0;
}

/* Bytes that the environment chooses. */
void __mover___VERIFIER_nondet_memory(void *to, size_t n) {
    char *d = to;
    while (n >= sizeof(size_t) && ((size_t)d & (sizeof(size_t) - 1)) == 0) {
        *(size_t *)d = __VERIFIER_nondet_ulong();
        d += sizeof(size_t);
        n -= sizeof(size_t);
    }
    while (n >= 2 && ((size_t)d & 1) == 0) {
        *(unsigned short *)d = __VERIFIER_nondet_ushort();
        d += 2;
        n -= 2;
    }
    while (n > 0) {
        *d = __VERIFIER_nondet_char();
        d++;
        n--;
    }
}

int __mover_abs(int x) { return x < 0 ? -x : x; }
long __mover_labs(long x) { return x < 0 ? -x : x; }
long long __mover_llabs(long long x) { return x < 0 ? -x : x; }
int __mover_isdigit(int c) { return c >= '0' && c <= '9'; }
int __mover_isalpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
int __mover_isspace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
int __mover_toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
int __mover_tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static _Thread_local int __mover_errno;
int *__mover___errno_location(void) { return &__mover_errno; }
int __mover_failed_for(int result, int reason) {
    if (result != 0)
        __mover_errno = reason;
    return result;
}

/* Thread-specific data with destructors. */
#define MOST_KEYS 8
#define DESTRUCTOR_ROUNDS 4
unsigned __mover_new_key(void);
void *__mover_key_get(unsigned key);
void __mover_key_set(unsigned key, void *value);
int __mover_forget_key(unsigned key);

static void (*__mover_destructors[MOST_KEYS])(void *);

int __mover_pthread_key_create(unsigned *key, void (*destructor)(void *)) {
    unsigned fresh = __mover_new_key();
    __mover_destructors[fresh] = destructor;
    *key = fresh;
    return 0;
}

int __mover_tss_create(unsigned *key, void (*destructor)(void *)) {
    return __mover_pthread_key_create(key, destructor);
}

int __mover_pthread_key_delete(unsigned key) {
    int error = __mover_forget_key(key);
    if (!error)
        __mover_destructors[key] = 0;
    return error;
}

unsigned __mover_choice(unsigned values);
static int __mover_is_pending(unsigned key, unsigned done) {
    return !(done >> key & 1) && __mover_key_get(key) && __mover_destructors[key];
}

/* In each round the destructors run in any order, as POSIX has it. */
void __mover_leave_thread(void) {
    for (int round = 0; round < DESTRUCTOR_ROUNDS; round++) {
        unsigned done = 0;
        for (;;) {
            unsigned key = 0;
            while (key < MOST_KEYS && !__mover_is_pending(key, done))
                key++;
            if (key == MOST_KEYS)
                break;
            for (unsigned other = key + 1; other < MOST_KEYS; other++)
                if (__mover_is_pending(other, done) && __mover_choice(2))
                    key = other;
            done |= 1u << key;
            void *value = __mover_key_get(key);
            __mover_key_set(key, 0);
            __mover_destructors[key](value);
        }
        if (!done)
            return;
    }
}
