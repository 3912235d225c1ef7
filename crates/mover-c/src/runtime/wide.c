/* Integers of 128 bits, as two words: products, quotients, conversions to and from floating point.
 *
 * A program's `__int128` is lowered to pairs of words before it is read. What takes more than a few
 * instructions is here. Division is schoolbook division with digits of 32 bits (Knuth, volume 2, 4.3.1,
 * algorithm D, in the form of Warren's Hacker's Delight). A divisor of zero and the one quotient that
 * overflows are left to a division of words, which reports them.
 */

typedef unsigned long long __mover_word;
#define __mover_DIGIT 0x100000000ull

__mover_word __mover_wide_multiply_high(__mover_word a, __mover_word b) {
    __mover_word a0 = (unsigned)a, a1 = a >> 32, b0 = (unsigned)b, b1 = b >> 32;
    __mover_word one = a1 * b0 + (a0 * b0 >> 32);
    __mover_word other = a0 * b1 + (unsigned)one;
    return a1 * b1 + (one >> 32) + (other >> 32);
}

/* Two words by one, whose quotient fits a word: u1 < v. */
static __mover_word __mover_divide_words(__mover_word u1, __mover_word u0, __mover_word v,
                                         __mover_word *rest) {
    int s = __mover_leading_zeros(v);
    v <<= s;
    __mover_word v1 = v >> 32, v0 = (unsigned)v;
    __mover_word top = s ? u1 << s | u0 >> (64 - s) : u1;
    u0 <<= s;
    __mover_word q1 = top / v1, r = top - q1 * v1;
    while (q1 >= __mover_DIGIT || q1 * v0 > (r << 32) + (u0 >> 32)) {
        q1--;
        r += v1;
        if (r >= __mover_DIGIT)
            break;
    }
    __mover_word middle = (top << 32) + (u0 >> 32) - q1 * v;
    __mover_word q0 = middle / v1;
    r = middle - q0 * v1;
    while (q0 >= __mover_DIGIT || q0 * v0 > (r << 32) + (unsigned)u0) {
        q0--;
        r += v1;
        if (r >= __mover_DIGIT)
            break;
    }
    *rest = ((middle << 32) + (unsigned)u0 - q0 * v) >> s;
    return (q1 << 32) + q0;
}

void __mover_wide_udiv_rem(__mover_word *q, __mover_word *r, __mover_word a0, __mover_word a1,
                           __mover_word b0, __mover_word b1) {
    q[0] = q[1] = r[0] = r[1] = 0;
    if (b1 == 0 && (a1 == 0 || b0 == 0)) {
        q[0] = a0 / b0;
        r[0] = a0 % b0;
        return;
    }
    if (b1 == 0) {
        q[1] = a1 / b0;
        q[0] = __mover_divide_words(a1 % b0, a0, b0, &r[0]);
        return;
    }
    /* Half of a by the leading word of b gives a quotient that is right or too large by one. */
    int s = __mover_leading_zeros(b1);
    __mover_word lead = s ? b1 << s | b0 >> (64 - s) : b1, rest;
    __mover_word guess = __mover_divide_words(a1 >> 1, a1 << 63 | a0 >> 1, lead, &rest);
    guess >>= 63 - s;
    if (guess)
        guess--;
    __mover_word low = guess * b0;
    __mover_word high = guess * b1 + __mover_wide_multiply_high(guess, b0);
    r[0] = a0 - low;
    r[1] = a1 - high - (a0 < low);
    if (r[1] > b1 || (r[1] == b1 && r[0] >= b0)) {
        guess++;
        r[1] = r[1] - b1 - (r[0] < b0);
        r[0] -= b0;
    }
    q[0] = guess;
}

static void __mover_wide_negate(__mover_word *x) {
    x[0] = -x[0];
    x[1] = ~x[1] + (x[0] == 0);
}
#define __mover_is_negative(high) ((high) >> 63)

void __mover_wide_sdiv_rem(__mover_word *q, __mover_word *r, __mover_word a0, __mover_word a1,
                           __mover_word b0, __mover_word b1) {
    __mover_word a[2] = {a0, a1}, b[2] = {b0, b1};
    if (a0 == 0 && a1 == 1ull << 63 && (b0 & b1) == ~0ull)
        /* Undefined, as the quotient of words is. */
        q[0] = (long long)a1 / (long long)b0;
    if (__mover_is_negative(a1))
        __mover_wide_negate(a);
    if (__mover_is_negative(b1))
        __mover_wide_negate(b);
    __mover_wide_udiv_rem(q, r, a[0], a[1], b[0], b[1]);
    if (__mover_is_negative(a1 ^ b1))
        __mover_wide_negate(q);
    if (__mover_is_negative(a1))
        __mover_wide_negate(r);
}

void __mover_wide_udiv(__mover_word *out, __mover_word a0, __mover_word a1, __mover_word b0,
                       __mover_word b1) {
    __mover_word other[2];
    __mover_wide_udiv_rem(out, other, a0, a1, b0, b1);
}
void __mover_wide_urem(__mover_word *out, __mover_word a0, __mover_word a1, __mover_word b0,
                       __mover_word b1) {
    __mover_word other[2];
    __mover_wide_udiv_rem(other, out, a0, a1, b0, b1);
}
void __mover_wide_sdiv(__mover_word *out, __mover_word a0, __mover_word a1, __mover_word b0,
                       __mover_word b1) {
    __mover_word other[2];
    __mover_wide_sdiv_rem(out, other, a0, a1, b0, b1);
}
void __mover_wide_srem(__mover_word *out, __mover_word a0, __mover_word a1, __mover_word b0,
                       __mover_word b1) {
    __mover_word other[2];
    __mover_wide_sdiv_rem(other, out, a0, a1, b0, b1);
}

__mover_word __mover_wide_umul_overflows(__mover_word a0, __mover_word a1, __mover_word b0,
                                         __mover_word b1) {
    if (a1 && b1)
        return 1;
    if (__mover_wide_multiply_high(a1, b0) || __mover_wide_multiply_high(a0, b1))
        return 1;
    /* One of the two is zero, so their sum fits. */
    __mover_word cross = a1 * b0 + a0 * b1;
    return cross + __mover_wide_multiply_high(a0, b0) < cross;
}
__mover_word __mover_wide_smul_overflows(__mover_word a0, __mover_word a1, __mover_word b0,
                                         __mover_word b1) {
    __mover_word a[2] = {a0, a1}, b[2] = {b0, b1};
    if (__mover_is_negative(a1))
        __mover_wide_negate(a);
    if (__mover_is_negative(b1))
        __mover_wide_negate(b);
    if (__mover_wide_umul_overflows(a[0], a[1], b[0], b[1]))
        return 1;
    __mover_word low = a[0] * b[0];
    __mover_word high = a[1] * b[0] + a[0] * b[1] + __mover_wide_multiply_high(a[0], b[0]);
    if (!__mover_is_negative(high))
        return 0;
    /* Of the magnitudes beyond the largest number one is that of a negative number. */
    return !(__mover_is_negative(a1 ^ b1) && high == 1ull << 63 && low == 0);
}

/* The bits of a number as floating point: the leading 64 bits, the last of which tells of those behind
 * it, are rounded, and the exponent is that many more. */
__mover_word __mover_wide_to_double(__mover_word low, __mover_word high, __mover_word is_signed) {
    __mover_word x[2] = {low, high}, sign = is_signed ? high & 1ull << 63 : 0;
    if (sign)
        __mover_wide_negate(x);
    if (x[1] == 0)
        return sign | __mover_float_from_unsigned(x[0]);
    int s = __mover_leading_zeros(x[1]);
    __mover_word top = s ? x[1] << s | x[0] >> (64 - s) : x[1];
    top |= x[0] << s != 0;
    return sign | (__mover_float_from_unsigned(top) + ((__mover_word)(64 - s) << 52));
}
unsigned __mover_wide_to_single(__mover_word low, __mover_word high, __mover_word is_signed) {
    __mover_word x[2] = {low, high};
    unsigned sign = is_signed && high >> 63 ? 1u << 31 : 0;
    if (sign)
        __mover_wide_negate(x);
    if (x[1] == 0)
        return sign | __mover_float_single_from_unsigned(x[0]);
    int s = __mover_leading_zeros(x[1]);
    __mover_word top = s ? x[1] << s | x[0] >> (64 - s) : x[1];
    top |= x[0] << s != 0;
    return sign | (__mover_float_single_from_unsigned(top) + ((unsigned)(64 - s) << 23));
}
/* Towards zero. A number that does not fit is undefined in C. */
void __mover_wide_from_float(__mover_word *out, __mover_word bits) {
    __mover_word magnitude = bits & ~(1ull << 63);
    int exponent = (int)(magnitude >> 52);
    out[1] = 0;
    if (exponent < 1023 + 64) {
        out[0] = __mover_float_to_unsigned(magnitude);
    } else {
        __mover_word fraction = (magnitude & 0xFFFFFFFFFFFFFull) | 1ull << 52;
        int by = exponent - 1075;
        out[0] = by < 64 ? fraction << by : 0;
        out[1] = by < 64 ? fraction >> (64 - by) : by < 128 ? fraction << (by - 64) : 0;
    }
    if (bits >> 63)
        __mover_wide_negate(out);
}
