/* Streams. What a program prints nobody reads, and what it reads is unconstrained.
 *
 * Printing is modelled for its result only: the number of characters, or -1. `snprintf` and its
 * kin really format integers, strings, characters and pointers. A stream is an address and has
 * no content: each read returns any characters, or the end of the file.
 */

void *__mover_realloc(void *old, size_t size);

struct __mover_stream {
    int unused;
};
static struct __mover_stream __mover_streams[4];
__mover_variable(stdin) struct __mover_stream *stdin = &__mover_streams[0];
__mover_variable(stdout) struct __mover_stream *stdout = &__mover_streams[1];
__mover_variable(stderr) struct __mover_stream *stderr = &__mover_streams[2];

/* In decimal.c, which is there only if the program passes floating point to such functions. */
/* clang-format off: a declaration ends with its line */
size_t __mover_format_double(char *to, size_t room, size_t at, unsigned long long bits, char kind, int left, char plus, int alternate, int zero, long width, long precision);

/* Characters that do not fit are counted, not written. */
size_t __mover_put(char *to, size_t room, size_t at, char c) {
    if (at + 1 < room)
        to[at] = c;
    return at + 1;
}

size_t __mover_fill(char *to, size_t room, size_t at, char c, long n) {
    for (; n > 0; n--)
        at = __mover_put(to, room, at, c);
    return at;
}

/* The bytes of an integer that the letters before a conversion say. */
static int __mover_length(const char **format) {
    int longs = 0, shorts = 0, is_size = 0;
    for (;; (*format)++) {
        if (**format == 'l')
            longs++;
        else if (**format == 'j')
            longs = 2;
        else if (**format == 'h')
            shorts++;
        else if (**format == 'z' || **format == 't')
            is_size = 1;
        else
            break;
    }
    return is_size       ? sizeof(size_t)
           : longs == 1  ? sizeof(long)
           : longs > 1   ? sizeof(long long)
           : shorts == 1 ? sizeof(short)
           : shorts > 1  ? 1
                         : sizeof(int);
}

int __mover_vsnprintf(char *to, size_t room, const char *format, __builtin_va_list list) {
    size_t at = 0;
    for (; *format; format++) {
        if (*format != '%') {
            at = __mover_put(to, room, at, *format);
            continue;
        }
        int left = 0, plus = 0, space = 0, alternate = 0, zero = 0;
        for (format++;; format++) {
            if (*format == '-')
                left = 1;
            else if (*format == '+')
                plus = 1;
            else if (*format == ' ')
                space = 1;
            else if (*format == '#')
                alternate = 1;
            else if (*format == '0')
                zero = 1;
            else
                break;
        }
        long width = 0, precision = -1;
        if (*format == '*') {
            width = __builtin_va_arg(list, int);
            if (width < 0) {
                left = 1;
                width = -width;
            }
            format++;
        }
        for (; *format >= '0' && *format <= '9'; format++)
            width = 10 * width + (*format - '0');
        if (*format == '.') {
            precision = 0;
            format++;
            if (*format == '*') {
                precision = __builtin_va_arg(list, int);
                if (precision < 0)
                    precision = -1;
                format++;
            }
            for (; *format >= '0' && *format <= '9'; format++)
                precision = 10 * precision + (*format - '0');
        }
        int bytes = __mover_length(&format);
        char kind = *format;
        if (kind == '%') {
            at = __mover_put(to, room, at, '%');
        } else if (kind == 'c') {
            char c = (char)__builtin_va_arg(list, int);
            at = __mover_fill(to, room, at, ' ', left ? 0 : width - 1);
            at = __mover_put(to, room, at, c);
            at = __mover_fill(to, room, at, ' ', left ? width - 1 : 0);
        } else if (kind == 's') {
            const char *text = __builtin_va_arg(list, const char *);
            if (!text)
                text = "(null)";
            long length = 0;
            while ((precision < 0 || length < precision) && text[length])
                length++;
            at = __mover_fill(to, room, at, ' ', left ? 0 : width - length);
            for (long i = 0; i < length; i++)
                at = __mover_put(to, room, at, text[i]);
            at = __mover_fill(to, room, at, ' ', left ? width - length : 0);
        } else if (kind == 'n') {
            *__builtin_va_arg(list, int *) = (int)at;
        } else if (kind == 'd' || kind == 'i' || kind == 'u' || kind == 'x' || kind == 'X' ||
                   kind == 'o' || kind == 'p') {
            unsigned long long number;
            int negative = 0;
            if (kind == 'p') {
                number = (size_t)__builtin_va_arg(list, void *);
                alternate = 1;
            } else if (bytes > (int)sizeof(int)) {
                number = bytes == sizeof(long) ? __builtin_va_arg(list, unsigned long)
                                               : __builtin_va_arg(list, unsigned long long);
            } else {
                number = __builtin_va_arg(list, unsigned);
            }
            if (kind == 'd' || kind == 'i') {
                long long value = bytes == 1                    ? (signed char)number
                                  : bytes == sizeof(short)      ? (short)number
                                  : bytes == sizeof(int)        ? (int)number
                                  : bytes == sizeof(long)       ? (long)number
                                                                : (long long)number;
                negative = value < 0;
                number = negative ? 0 - (unsigned long long)value : (unsigned long long)value;
            } else if (bytes == 1) {
                number = (unsigned char)number;
            } else if (bytes == sizeof(short)) {
                number = (unsigned short)number;
            }
            unsigned base = kind == 'x' || kind == 'X' || kind == 'p' ? 16 : kind == 'o' ? 8 : 10;
            const char *digits = kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
            char reversed[24];
            long count = 0;
            int is_null = kind == 'p' && number == 0;
            int has_prefix = alternate && base == 16 && number != 0;
            for (unsigned long long rest = number; rest; rest /= base)
                reversed[count++] = digits[rest % base];
            long zeros = precision < 0 ? (count == 0) : precision > count ? precision - count : 0;
            if (alternate && base == 8 && zeros == 0)
                zeros = 1;
            char sign = negative ? '-' : kind != 'd' && kind != 'i' ? 0 : plus ? '+' : space ? ' ' : 0;
            long length = is_null ? 5 : count + zeros + (sign != 0) + 2 * has_prefix;
            if (zero && !left && precision < 0 && !is_null && length < width) {
                zeros += width - length;
                length = width;
            }
            at = __mover_fill(to, room, at, ' ', left ? 0 : width - length);
            if (is_null) {
                for (int i = 0; i < 5; i++)
                    at = __mover_put(to, room, at, "(nil)"[i]);
            } else {
                if (sign)
                    at = __mover_put(to, room, at, sign);
                if (has_prefix) {
                    at = __mover_put(to, room, at, '0');
                    at = __mover_put(to, room, at, kind == 'X' ? 'X' : 'x');
                }
                at = __mover_fill(to, room, at, '0', zeros);
                while (count > 0)
                    at = __mover_put(to, room, at, reversed[--count]);
            }
            at = __mover_fill(to, room, at, ' ', left ? width - length : 0);
        } else if (kind == 'f' || kind == 'F' || kind == 'e' || kind == 'E' || kind == 'g' ||
                   kind == 'G') {
            unsigned long long number = __builtin_va_arg(list, unsigned long long);
            at = (__mover_format_double)(to, room, at, number, kind, left,
                                         plus    ? '+'
                                         : space ? ' '
                                                 : 0,
                                         alternate, zero, width, precision);
        } else {
            __mover_unsupported("a conversion of this format");
        }
    }
    if (room > 0)
        to[at < room ? at : room - 1] = 0;
    return (int)at;
}

/* Room without end; what does not fit the object is an access out of bounds. */
#define __mover_ENDLESS ((size_t)-1 / 2)
#define __mover_format(call)                                                                       \
    __builtin_va_list list;                                                                        \
    __builtin_va_start(list, format);                                                              \
    int count = call;                                                                              \
    __builtin_va_end(list);                                                                        \
    return count

int __mover_vsprintf(char *to, const char *format, __builtin_va_list list) {
    return __mover_vsnprintf(to, __mover_ENDLESS, format, list);
}
int __mover_snprintf(char *to, size_t room, const char *format, ...) {
    __mover_format(__mover_vsnprintf(to, room, format, list));
}
int __mover_sprintf(char *to, const char *format, ...) {
    __mover_format(__mover_vsnprintf(to, __mover_ENDLESS, format, list));
}
int __mover___snprintf_chk(char *to, size_t room, int flag, size_t size, const char *format, ...) {
    __mover_format(__mover_vsnprintf(to, room, format, list));
}
int __mover___sprintf_chk(char *to, int flag, size_t size, const char *format, ...) {
    __mover_format(__mover_vsnprintf(to, __mover_ENDLESS, format, list));
}
int __mover_vasprintf(char **to, const char *format, __builtin_va_list list) {
    __builtin_va_list again;
    __builtin_va_copy(again, list);
    int count = __mover_vsnprintf(0, 0, format, again);
    *to = __mover_allocate_zeroed((size_t)count + 1); /* all of it is written below */
    return __mover_vsnprintf(*to, (size_t)count + 1, format, list);
}
int __mover_asprintf(char **to, const char *format, ...) {
    __mover_format(__mover_vasprintf(to, format, list));
}

/* What printing returns. */
static int __mover_printed(int count) { return __mover_choice(2) ? count : -1; }
int __mover_vprintf(const char *format, __builtin_va_list list) {
    return __mover_printed(__mover_vsnprintf(0, 0, format, list));
}
int __mover_vfprintf(void *stream, const char *format, __builtin_va_list list) {
    return __mover_printed(__mover_vsnprintf(0, 0, format, list));
}
int __mover_printf(const char *format, ...) { __mover_format(__mover_vprintf(format, list)); }
int __mover_fprintf(void *stream, const char *format, ...) {
    __mover_format(__mover_vprintf(format, list));
}
int __mover_dprintf(int file, const char *format, ...) {
    __mover_format(__mover_vprintf(format, list));
}
int __mover_puts(const char *text) {
    return __mover_choice(2) ? (int)__mover_strlen(text) + 1 : -1;
}
/* Any number that is not negative, or -1. */
int __mover_fputs(const char *text, void *stream) {
    int count = __VERIFIER_nondet_int();
    __VERIFIER_assume(count >= -1);
    return count;
}
int __mover_putchar(int c) { return __mover_choice(2) ? (unsigned char)c : -1; }
int __mover_fputc(int c, void *stream) { return __mover_putchar(c); }
int __mover_putc(int c, void *stream) { return __mover_putchar(c); }
int __mover__IO_putc(int c, void *stream) { return __mover_putchar(c); }
int __mover_fflush(void *stream) { return __mover_choice(2) ? 0 : -1; }
/* Any number of elements up to all of them. */
static size_t __mover_up_to(size_t most) {
    size_t n = most;
    while (n > 0 && __mover_choice(2))
        n--;
    return n;
}
size_t __mover_fwrite(const void *from, size_t size, size_t count, void *stream) {
    return __mover_up_to(count);
}
long __mover_write(int file, const void *from, size_t size) {
    return __mover_choice(2) ? (long)__mover_up_to(size) : -1;
}

/* Files. */
void *__mover_fopen(const char *name, const char *mode) {
    return __mover_choice(2) ? &__mover_streams[3] : 0;
}
void *__mover_fdopen(int file, const char *mode) { return __mover_fopen(0, mode); }
void *__mover_freopen(const char *name, const char *mode, void *stream) {
    return __mover_choice(2) ? stream : 0;
}
void *__mover_tmpfile(void) { return __mover_fopen(0, 0); }
void *__mover_popen(const char *command, const char *mode) { return __mover_fopen(0, mode); }
int __mover_pclose(void *stream) { return __VERIFIER_nondet_int(); }
int __mover_fclose(void *stream) { return __mover_choice(2) ? 0 : -1; }
int __mover_feof(void *stream) { return __mover_choice(2); }
int __mover_ferror(void *stream) { return __mover_choice(2); }
int __mover_fileno(void *stream) {
    for (int i = 0; i < 3; i++)
        if (stream == &__mover_streams[i])
            return i;
    return 3;
}

/* Input: -1 at the end of the file. */
int __mover_getchar(void) { return (int)__mover_choice(257) - 1; }
int __mover_fgetc(void *stream) { return __mover_getchar(); }
int __mover_getc(void *stream) { return __mover_getchar(); }
int __mover_getc_unlocked(void *stream) { return __mover_getchar(); }
int __mover_getchar_unlocked(void) { return __mover_getchar(); }
/* A line of any length. The memory grows as in the GNU C library. */
long __mover_getdelim(char **line, size_t *room, int end, void *stream) {
    size_t at = 0;
    if (!*line || *room == 0) {
        *room = 120;
        *line = __mover_realloc(*line, 120);
        if (!*line)
            return -1;
    }
    for (;;) {
        int c = __mover_getchar();
        if (c < 0 && at == 0)
            return -1;
        if (c < 0)
            break;
        if (at + 2 > *room) {
            char *larger = __mover_realloc(*line, 2 * *room);
            if (!larger)
                return -1;
            *line = larger;
            *room *= 2;
        }
        (*line)[at++] = (char)c;
        if (c == end)
            break;
    }
    (*line)[at] = 0;
    return (long)at;
}
long __mover_getline(char **line, size_t *room, void *stream) {
    return __mover_getdelim(line, room, '\n', stream);
}
int __mover_fseek(void *stream, long offset, int from) { return __mover_choice(2) ? 0 : -1; }
long __mover_ftell(void *stream) {
    long at = __VERIFIER_nondet_long();
    __VERIFIER_assume(at >= -1);
    return at;
}
int __mover_remove(const char *name) { return __mover_choice(2) ? 0 : -1; }
int __mover_close(int file) { return __mover_choice(2) ? 0 : -1; }
int __mover_isatty(int file) { return __mover_choice(2); }
int __mover_ungetc(int c, void *stream) { return c; }
char *__mover_fgets(char *to, int room, void *stream) {
    int at = 0;
    while (at + 1 < room) {
        int c = __mover_getchar();
        if (c < 0)
            break;
        to[at++] = (char)c;
        if (c == '\n')
            break;
    }
    if (at == 0)
        return 0;
    to[at] = 0;
    return to;
}
static size_t __mover_read_bytes(char *to, size_t size) {
    size_t n = __mover_up_to(size);
    for (size_t i = 0; i < n; i++)
        to[i] = (char)__mover_choice(256);
    return n;
}
size_t __mover_fread(void *to, size_t size, size_t count, void *stream) {
    return size == 0 ? 0 : __mover_read_bytes(to, size * count) / size;
}
long __mover_read(int file, void *to, size_t size) {
    return __mover_choice(2) ? (long)__mover_read_bytes(to, size) : -1;
}

int __mover_vscanf(const char *format, __builtin_va_list list) {
    int count = 0;
    for (; *format; format++) {
        if (*format != '%')
            continue;
        format++;
        if (*format == '%')
            continue;
        int is_stored = 1;
        if (*format == '*') {
            is_stored = 0;
            format++;
        }
        long width = 0;
        for (; *format >= '0' && *format <= '9'; format++)
            width = 10 * width + (*format - '0');
        int bytes = __mover_length(&format);
        /* The input may end or not fit before each of them. */
        if (!__mover_choice(2))
            return count == 0 && __mover_choice(2) ? -1 : count;
        char kind = *format;
        if (!is_stored)
            continue;
        if (kind == 'c' || kind == 's') {
            char *to = __builtin_va_arg(list, char *);
            if (kind == 'c') {
                if (width == 0)
                    width = 1;
                for (long i = 0; i < width; i++)
                    to[i] = (char)__mover_choice(256);
            } else {
                long at = 0;
                do
                    to[at++] = (char)(1 + __mover_choice(255));
                while ((width == 0 || at < width) && __mover_choice(2));
                to[at] = 0;
            }
        } else if (kind == 'f' || kind == 'e' || kind == 'g') {
            if (bytes == sizeof(int))
                *__builtin_va_arg(list, int *) = __VERIFIER_nondet_int();
            else
                *__builtin_va_arg(list, long long *) = __VERIFIER_nondet_longlong();
        } else if (kind == 'd' || kind == 'i' || kind == 'u' || kind == 'x' || kind == 'X' ||
                   kind == 'o') {
            if (bytes == 1)
                *__builtin_va_arg(list, char *) = __VERIFIER_nondet_char();
            else if (bytes == sizeof(short))
                *__builtin_va_arg(list, short *) = __VERIFIER_nondet_short();
            else if (bytes == sizeof(int))
                *__builtin_va_arg(list, int *) = __VERIFIER_nondet_int();
            else
                *__builtin_va_arg(list, long long *) = __VERIFIER_nondet_longlong();
        } else {
            __mover_unsupported("a conversion of this format");
        }
        count++;
    }
    return count;
}
int __mover_scanf(const char *format, ...) { __mover_format(__mover_vscanf(format, list)); }
int __mover_fscanf(void *stream, const char *format, ...) {
    __mover_format(__mover_vscanf(format, list));
}
int __mover_sscanf(const char *text, const char *format, ...) {
    __mover_format(__mover_vscanf(format, list));
}
int __mover___printf_chk(int flag, const char *format, ...) {
    __mover_format(__mover_vprintf(format, list));
}
int __mover___fprintf_chk(void *stream, int flag, const char *format, ...) {
    __mover_format(__mover_vprintf(format, list));
}
int __mover_vsscanf(const char *text, const char *format, __builtin_va_list list) {
    return __mover_vscanf(format, list);
}
int __mover_vfscanf(void *stream, const char *format, __builtin_va_list list) {
    return __mover_vscanf(format, list);
}
int __mover___vsnprintf_chk(char *to, size_t room, int flag, size_t size, const char *format,
                            __builtin_va_list list) {
    return __mover_vsnprintf(to, room, format, list);
}
int __mover___vsprintf_chk(char *to, int flag, size_t size, const char *format,
                           __builtin_va_list list) {
    return __mover_vsnprintf(to, __mover_ENDLESS, format, list);
}
int __mover___asprintf_chk(char **to, int flag, const char *format, ...) {
    __mover_format(__mover_vasprintf(to, format, list));
}
