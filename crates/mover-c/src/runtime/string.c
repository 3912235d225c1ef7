/* The rest of <string.h> and <strings.h>; the most used functions are in memory.c. */

int __mover_tolower(int c);
int __mover_memcmp(const void *a, const void *b, size_t n);
char *__mover_strchr(const char *s, int c);

static int __mover_has(const char *set, char c) {
    for (; *set; set++)
        if (*set == c)
            return 1;
    return 0;
}
size_t __mover_strspn(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && __mover_has(set, s[n]))
        n++;
    return n;
}
size_t __mover_strcspn(const char *s, const char *set) {
    size_t n = 0;
    while (s[n] && !__mover_has(set, s[n]))
        n++;
    return n;
}
char *__mover_strpbrk(const char *s, const char *set) {
    s += __mover_strcspn(s, set);
    return *s ? (char *)s : 0;
}
char *__mover_strstr(const char *s, const char *part) {
    for (;; s++) {
        size_t i = 0;
        while (part[i] && s[i] == part[i])
            i++;
        if (!part[i])
            return (char *)s;
        if (!*s)
            return 0;
    }
}
char *__mover_strtok_r(char *s, const char *set, char **rest) {
    if (!s)
        s = *rest;
    if (!s)
        return 0;
    s += __mover_strspn(s, set);
    if (!*s) {
        *rest = s;
        return 0;
    }
    char *end = s + __mover_strcspn(s, set);
    if (*end)
        *end++ = 0;
    *rest = end;
    return s;
}
static char *__mover_token;
char *__mover_strtok(char *s, const char *set) { return __mover_strtok_r(s, set, &__mover_token); }
char *__mover_strsep(char **at, const char *set) {
    char *s = *at;
    if (!s)
        return 0;
    char *end = s + __mover_strcspn(s, set);
    if (*end)
        *end++ = 0;
    else
        end = 0;
    *at = end;
    return s;
}
char *__mover_stpcpy(char *to, const char *from) {
    while ((*to = *from)) {
        to++;
        from++;
    }
    return to;
}
char *__mover_strndup(const char *s, size_t most) {
    size_t n = 0;
    while (n < most && s[n])
        n++;
    char *copy = __mover_allocate_zeroed(n + 1); /* all of it is written below */
    __mover_memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}
void *__mover_memrchr(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    while (n > 0)
        if (p[--n] == (unsigned char)c)
            return (void *)(p + n);
    return 0;
}
void *__mover_memmem(const void *all, size_t size, const void *part, size_t length) {
    const char *p = all;
    for (size_t at = 0; at + length <= size; at++)
        if (__mover_memcmp(p + at, part, length) == 0)
            return (void *)(p + at);
    return 0;
}
void *__mover_memccpy(void *to, const void *from, int c, size_t n) {
    unsigned char *d = to;
    const unsigned char *s = from;
    for (size_t i = 0; i < n; i++) {
        d[i] = s[i];
        if (s[i] == (unsigned char)c)
            return d + i + 1;
    }
    return 0;
}
void *__mover_mempcpy(void *to, const void *from, size_t n) {
    return (char *)__mover_memcpy(to, from, n) + n;
}
char *__mover_strchrnul(const char *s, int c) {
    while (*s && *s != (char)c)
        s++;
    return (char *)s;
}
char *__mover_index(const char *s, int c) { return __mover_strchr(s, c); }
void __mover_bzero(void *to, size_t n) {
    char *d = to;
    for (size_t i = 0; i < n; i++)
        d[i] = 0;
}
/* The sign is what the standard says; the number is any that a library may return, which is at
 * most a difference of characters. */
static int __mover_order(int difference) {
    int magnitude = 1 + (int)__mover_choice(255);
    return difference < 0 ? -magnitude : magnitude;
}
int __mover_strncasecmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int x = __mover_tolower((unsigned char)a[i]), y = __mover_tolower((unsigned char)b[i]);
        if (x != y)
            return __mover_order(x - y);
        if (!x)
            return 0;
    }
    return 0;
}
int __mover_strcasecmp(const char *a, const char *b) {
    return __mover_strncasecmp(a, b, (size_t)-1);
}
char *__mover_strrchr(const char *s, int c);
int __mover_strcmp(const char *a, const char *b);
void *__mover_memmove(void *to, const void *from, size_t n);
char *__mover_rindex(const char *s, int c) { return __mover_strrchr(s, c); }
int __mover_bcmp(const void *a, const void *b, size_t n) { return __mover_memcmp(a, b, n); }
void __mover_bcopy(const void *from, void *to, size_t n) { __mover_memmove(to, from, n); }
void __mover_explicit_bzero(void *to, size_t n) { __mover_bzero(to, n); }
/* In the C locale texts are ordered by their bytes. */
int __mover_strcoll(const char *a, const char *b) { return __mover_strcmp(a, b); }
size_t __mover_strxfrm(char *to, const char *from, size_t n) {
    size_t length = __mover_strlen(from);
    for (size_t i = 0; i < n && i <= length; i++)
        to[i] = from[i];
    return length;
}
char *__mover_stpncpy(char *to, const char *from, size_t n) {
    size_t i = 0, end;
    while (i < n && from[i]) {
        to[i] = from[i];
        i++;
    }
    for (end = i; i < n; i++)
        to[i] = 0;
    return to + end;
}
void *__mover_rawmemchr(const void *s, int c) {
    const unsigned char *p = s;
    while (*p != (unsigned char)c)
        p++;
    return (void *)p;
}
char *__mover_strcasestr(const char *s, const char *part) {
    for (;; s++) {
        size_t i = 0;
        while (part[i] && __mover_tolower((unsigned char)s[i]) == __mover_tolower((unsigned char)part[i]))
            i++;
        if (!part[i])
            return (char *)s;
        if (!*s)
            return 0;
    }
}
size_t __mover_strlcpy(char *to, const char *from, size_t room) {
    size_t length = __mover_strlen(from);
    for (size_t i = 0; i < room; i++) {
        to[i] = i + 1 < room ? from[i] : 0;
        if (!to[i])
            break;
    }
    return length;
}
size_t __mover_strlcat(char *to, const char *from, size_t room) {
    size_t n = 0;
    while (n < room && to[n])
        n++;
    return n + __mover_strlcpy(to + n, from, room - n);
}
int __mover_ffsll(long long x) {
    for (int i = 0; i < 64; i++)
        if (x >> i & 1)
            return i + 1;
    return 0;
}
int __mover_ffsl(long x) { return __mover_ffsll(x); }
int __mover_ffs(int x) { return __mover_ffsll(x); }
/* Some text for each number. */
static char __mover_message[] = "error";
char *__mover_strerror(int number) { return __mover_message; }
char *__mover_strerror_r(int number, char *to, size_t room) { return __mover_message; }
int __mover___xpg_strerror_r(int number, char *to, size_t room) {
    for (size_t i = 0; i < room; i++) {
        to[i] = i + 1 < room ? __mover_message[i] : 0;
        if (!to[i])
            break;
    }
    return room > 5 ? 0 : 34; /* ERANGE */
}
char *__mover_basename(const char *path) {
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return (char *)name;
}
void __mover_swab(const void *from, void *to, long n) {
    const char *source = from;
    char *target = to;
    for (long i = 0; i + 1 < n; i += 2) {
        char first = source[i];
        target[i] = source[i + 1];
        target[i + 1] = first;
    }
}
