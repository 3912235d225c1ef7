/* Floating point as decimal text: `%f`, `%e` and `%g`, and text as floating point.
 *
 * A double is an integer times a power of two. Times a power of ten it is an integer, which is
 * computed here exactly, in words of nine decimal digits; then it is rounded once, to nearest, ties to
 * even, as the GNU C library does. Numbers are passed as their bits.
 */

unsigned long long __mover_float_mul(unsigned long long a, unsigned long long b);
unsigned long long __mover_float_div(unsigned long long a, unsigned long long b);
unsigned long long __mover_float_from_unsigned(unsigned long long x);
size_t __mover_put(char *to, size_t room, size_t at, char c);
size_t __mover_fill(char *to, size_t room, size_t at, char c, long n);

#define __mover_WORD 1000000000u
/* 2^53 times 5^1074 has 767 digits. */
static _Thread_local unsigned __mover_words[90];
static _Thread_local int __mover_word_count;

static void __mover_scale(unsigned by) {
    unsigned long long carry = 0;
    for (int i = 0; i < __mover_word_count; i++) {
        carry += (unsigned long long)__mover_words[i] * by;
        __mover_words[i] = (unsigned)(carry % __mover_WORD);
        carry /= __mover_WORD;
    }
    if (carry)
        __mover_words[__mover_word_count++] = (unsigned)carry;
}
static unsigned __mover_power(unsigned base, int n) {
    unsigned power = 1;
    for (; n > 0; n--)
        power *= base;
    return power;
}
static int __mover_digit_count(void) {
    if (__mover_word_count == 0)
        return 0;
    int n = 9 * (__mover_word_count - 1);
    for (unsigned top = __mover_words[__mover_word_count - 1]; top; top /= 10)
        n++;
    return n;
}
static int __mover_digit(int at) {
    if (at < 0 || at / 9 >= __mover_word_count)
        return 0;
    return (int)(__mover_words[at / 9] / __mover_power(10, at % 9) % 10);
}
/* Rounds to a multiple of 10^drop; the digits below stay and count no more. */
static void __mover_round_digits(int drop) {
    if (drop <= 0)
        return;
    int half = __mover_digit(drop - 1), rest = 0;
    for (int i = 0; i < (drop - 1) / 9 && i < __mover_word_count; i++)
        rest |= __mover_words[i] != 0;
    if ((drop - 1) / 9 < __mover_word_count)
        rest |= __mover_words[(drop - 1) / 9] % __mover_power(10, (drop - 1) % 9) != 0;
    if (half < 5 || (half == 5 && !rest && !(__mover_digit(drop) & 1)))
        return;
    while (__mover_word_count <= drop / 9)
        __mover_words[__mover_word_count++] = 0;
    unsigned more = __mover_power(10, drop % 9);
    for (int i = drop / 9; more; i++) {
        if (i == __mover_word_count)
            __mover_words[__mover_word_count++] = 0;
        unsigned sum = __mover_words[i] + more;
        more = sum >= __mover_WORD;
        __mover_words[i] = sum - (more ? __mover_WORD : 0);
    }
}

size_t __mover_format_double(char *to, size_t room, size_t at, unsigned long long bits, char kind,
                             int left, char plus, int alternate, int zero, long width,
                             long precision) {
    int is_upper = kind < 'a';
    char style = (char)(kind | 32);
    char sign = bits >> 63 ? '-' : plus;
    int exponent = (int)(bits >> 52) & 2047;
    unsigned long long fraction = bits & 0xFFFFFFFFFFFFFull;
    if (exponent == 2047) {
        const char *name = fraction ? (is_upper ? "NAN" : "nan") : is_upper ? "INF" : "inf";
        long length = 3 + (sign != 0);
        at = __mover_fill(to, room, at, ' ', left ? 0 : width - length);
        if (sign)
            at = __mover_put(to, room, at, sign);
        for (int i = 0; i < 3; i++)
            at = __mover_put(to, room, at, name[i]);
        return __mover_fill(to, room, at, ' ', left ? width - length : 0);
    }
    if (precision < 0)
        precision = 6;
    int power = exponent == 0 ? -1074 : exponent - 1075;
    if (exponent != 0)
        fraction |= 0x10000000000000ull;
    while (power < 0 && fraction && !(fraction & 1)) {
        fraction >>= 1;
        power++;
    }
    __mover_word_count = 0;
    for (; fraction; fraction /= __mover_WORD)
        __mover_words[__mover_word_count++] = (unsigned)(fraction % __mover_WORD);
    /* Digits after the point. */
    int point = power < 0 && __mover_word_count > 0 ? -power : 0;
    for (int n = point; n > 0; n -= 12)
        __mover_scale(__mover_power(5, n < 12 ? n : 12));
    for (int n = power; n > 0; n -= 29)
        __mover_scale(1u << (n < 29 ? n : 29));
    int total = __mover_digit_count(), exponent_of_ten = 0, has_exponent = style == 'e';
    long shown = precision;
    if (style == 'f') {
        if (precision < point)
            __mover_round_digits(point - (int)precision);
        total = __mover_digit_count();
    } else {
        if (style == 'g' && precision == 0)
            precision = 1;
        long kept = style == 'g' ? precision : precision + 1;
        if (total > 0) {
            if (kept < total)
                __mover_round_digits(total - (int)kept);
            total = __mover_digit_count();
            exponent_of_ten = total - 1 - point;
        }
        if (style == 'g') {
            has_exponent = exponent_of_ten < -4 || exponent_of_ten >= precision;
            shown = has_exponent ? precision - 1 : precision - 1 - exponent_of_ten;
            int last = has_exponent ? total - 1 : point;
            if (!alternate)
                while (shown > 0 && (shown > last || __mover_digit(last - (int)shown) == 0))
                    shown--;
        }
    }
    long whole = has_exponent || total <= point ? 1 : total - point;
    int first = has_exponent ? total - 1 : point + (int)whole - 1;
    int has_point = shown > 0 || alternate;
    int magnitude = exponent_of_ten < 0 ? -exponent_of_ten : exponent_of_ten;
    long length = (sign != 0) + whole + has_point + shown;
    if (has_exponent)
        length += magnitude < 100 ? 4 : 5;
    at = __mover_fill(to, room, at, ' ', left || zero ? 0 : width - length);
    if (sign)
        at = __mover_put(to, room, at, sign);
    at = __mover_fill(to, room, at, '0', left || !zero ? 0 : width - length);
    for (long i = 0; i < whole; i++)
        at = __mover_put(to, room, at, (char)('0' + __mover_digit(first - (int)i)));
    if (has_point)
        at = __mover_put(to, room, at, '.');
    for (long i = 0; i < shown; i++) {
        int digit = i > 2000 ? 0 : __mover_digit(first - (int)(whole + i));
        at = __mover_put(to, room, at, (char)('0' + digit));
    }
    if (has_exponent) {
        at = __mover_put(to, room, at, is_upper ? 'E' : 'e');
        at = __mover_put(to, room, at, exponent_of_ten < 0 ? '-' : '+');
        if (magnitude >= 100)
            at = __mover_put(to, room, at, (char)('0' + magnitude / 100));
        at = __mover_put(to, room, at, (char)('0' + magnitude / 10 % 10));
        at = __mover_put(to, room, at, (char)('0' + magnitude % 10));
    }
    return __mover_fill(to, room, at, ' ', left ? width - length : 0);
}

/* Up to 15 digits and a power of ten up to 22 are exact doubles, so that one operation rounds
 * correctly (Clinger 1990). Other text is not supported. */
static unsigned long long __mover_read_double(const char *text, char **end) {
    const char *at = text;
    while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
        at++;
    unsigned long long sign = 0;
    if (*at == '+' || *at == '-')
        sign = *at++ == '-' ? 1ull << 63 : 0;
    if (*at == 'i' || *at == 'I' || *at == 'n' || *at == 'N' ||
        (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')))
        __mover_unsupported("this text as a floating-point number");
    unsigned long long value = 0;
    int digits = 0, scale = 0, any = 0, after = 0;
    for (;; at++) {
        if (*at == '.' && !after) {
            after = 1;
            continue;
        }
        if (*at < '0' || *at > '9')
            break;
        any = 1;
        scale -= after;
        value = 10 * value + (unsigned)(*at - '0');
        digits += value != 0;
        if (digits > 15)
            __mover_unsupported("a floating-point number of more than 15 digits");
    }
    if (end)
        *end = (char *)(any ? at : text);
    if (!any)
        return 0;
    if (*at == 'e' || *at == 'E') {
        const char *power = at + 1;
        int is_negative = *power == '-', exponent = 0;
        if (*power == '+' || *power == '-')
            power++;
        if (*power >= '0' && *power <= '9') {
            for (; *power >= '0' && *power <= '9' && exponent < 1000; power++)
                exponent = 10 * exponent + (*power - '0');
            scale += is_negative ? -exponent : exponent;
            if (end)
                *end = (char *)power;
        }
    }
    if (value == 0)
        return sign;
    unsigned long long ten = 0x4024000000000000ull, power = 0x3FF0000000000000ull;
    if (scale > 22 || scale < -22)
        __mover_unsupported("a floating-point number with a large exponent");
    for (int i = scale < 0 ? -scale : scale; i > 0; i--)
        power = __mover_float_mul(power, ten);
    value = __mover_float_from_unsigned(value);
    return sign | (scale < 0 ? __mover_float_div(value, power) : __mover_float_mul(value, power));
}
double __mover_strtod(const char *text, char **end) {
    union {
        unsigned long long bits;
        double value;
    } number = {__mover_read_double(text, end)};
    return number.value;
}
double __mover_atof(const char *text) { return __mover_strtod(text, 0); }
