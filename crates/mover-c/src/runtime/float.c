/* Floating point: IEEE 754 binary32 and binary64, rounded to nearest, on integers.
 *
 * Numbers are passed as their bits. The algorithms are the usual ones of software floating point
 * (Hauser's SoftFloat describes them): align, compute with some bits more, round once. Arithmetic on
 * binary32 is done in binary64 and rounded again, which is exact for sums, products and quotients
 * (Figueroa 1995). Exceptions and other rounding modes are not modelled.
 */

typedef unsigned long long __mover_bits;
#define __mover_NAN 0x7FF8000000000000ull
#define __mover_INFINITY 0x7FF0000000000000ull
#define __mover_SIGN 0x8000000000000000ull
#define __mover_FRACTION 0x000FFFFFFFFFFFFFull
#define __mover_HIDDEN 0x0010000000000000ull
#define __mover_exponent(x) ((int)((x) >> 52) & 0x7FF)

static int __mover_leading_zeros(__mover_bits x) {
    int n = 0;
    for (int step = 32; step > 0; step /= 2)
        if (!(x >> (64 - step))) {
            n += step;
            x <<= step;
        }
    return x ? n : 64;
}
/* Shifts; bits that fall out leave a trace in the last one. */
static __mover_bits __mover_shift_jam(__mover_bits x, int by) {
    if (by == 0)
        return x;
    if (by > 63)
        return x != 0;
    return x >> by | ((x << (64 - by)) != 0);
}
static __mover_bits __mover_pack(__mover_bits sign, int exponent, __mover_bits fraction) {
    return sign + ((__mover_bits)exponent << 52) + fraction;
}
/* The leading bit is bit 62; ten bits are rounded away. The exponent is one less than in the result. */
static __mover_bits __mover_round(__mover_bits sign, int exponent, __mover_bits x) {
    if (exponent < 0) {
        x = __mover_shift_jam(x, -exponent);
        exponent = 0;
    } else if (exponent > 0x7FD || (exponent == 0x7FD && x + 0x200 >= __mover_SIGN)) {
        return sign | __mover_INFINITY;
    }
    __mover_bits rest = x & 0x3FF;
    x = (x + 0x200) >> 10;
    if (rest == 0x200)
        x &= ~1ull;
    return __mover_pack(sign, x ? exponent : 0, x);
}
static int __mover_is_nan(__mover_bits x) { return (x & ~__mover_SIGN) > __mover_INFINITY; }

static __mover_bits __mover_add_magnitudes(__mover_bits a, __mover_bits b, __mover_bits sign) {
    int ea = __mover_exponent(a), eb = __mover_exponent(b), e;
    __mover_bits x = a & __mover_FRACTION, y = b & __mover_FRACTION, z;
    if (ea == 0x7FF || eb == 0x7FF)
        return sign | __mover_INFINITY;
    if (ea == eb) {
        if (ea == 0)
            return __mover_pack(sign, 0, x + y);
        e = ea;
        z = (2 * __mover_HIDDEN + x + y) << 9;
    } else {
        if (ea < eb) {
            int f = ea;
            ea = eb;
            eb = f;
            z = x;
            x = y;
            y = z;
        }
        e = ea;
        x <<= 9;
        y <<= 9;
        y = eb ? y + 0x2000000000000000ull : y << 1;
        y = __mover_shift_jam(y, ea - eb);
        z = 0x2000000000000000ull + x + y;
        if (z < 0x4000000000000000ull) {
            e--;
            z <<= 1;
        }
    }
    return __mover_round(sign, e, z);
}
static __mover_bits __mover_normalise_and_round(__mover_bits sign, int exponent, __mover_bits x) {
    int by = __mover_leading_zeros(x) - 1;
    return __mover_round(sign, exponent - by, x << by);
}
static __mover_bits __mover_sub_magnitudes(__mover_bits a, __mover_bits b, __mover_bits sign) {
    int ea = __mover_exponent(a), eb = __mover_exponent(b);
    __mover_bits x = a & __mover_FRACTION, y = b & __mover_FRACTION;
    if (ea == 0x7FF)
        return eb == 0x7FF ? __mover_NAN : sign | __mover_INFINITY;
    if (eb == 0x7FF)
        return (sign ^ __mover_SIGN) | __mover_INFINITY;
    if ((a & ~__mover_SIGN) == (b & ~__mover_SIGN))
        return 0;
    if ((a & ~__mover_SIGN) < (b & ~__mover_SIGN)) {
        int f = ea;
        __mover_bits z = x;
        ea = eb;
        eb = f;
        x = y;
        y = z;
        sign ^= __mover_SIGN;
    }
    x <<= 10;
    y <<= 10;
    x = ea ? x | 0x4000000000000000ull : x << 1;
    y = eb ? y | 0x4000000000000000ull : y << 1;
    y = __mover_shift_jam(y, ea - eb);
    return __mover_normalise_and_round(sign, ea - 1, x - y);
}
__mover_bits __mover_float_add(__mover_bits a, __mover_bits b) {
    if (__mover_is_nan(a) || __mover_is_nan(b))
        return __mover_NAN;
    __mover_bits sign = a & __mover_SIGN;
    return (a ^ b) & __mover_SIGN ? __mover_sub_magnitudes(a, b, sign)
                                  : __mover_add_magnitudes(a, b, sign);
}
__mover_bits __mover_float_sub(__mover_bits a, __mover_bits b) {
    return __mover_float_add(a, __mover_is_nan(b) ? b : b ^ __mover_SIGN);
}
/* The fraction with its leading bit as bit 52, and the exponent that belongs to it. */
static __mover_bits __mover_normal(__mover_bits x, int *exponent) {
    __mover_bits fraction = x & __mover_FRACTION;
    *exponent = __mover_exponent(x);
    if (*exponent)
        return fraction | __mover_HIDDEN;
    int by = __mover_leading_zeros(fraction) - 11;
    *exponent = 1 - by;
    return fraction << by;
}
__mover_bits __mover_float_mul(__mover_bits a, __mover_bits b) {
    __mover_bits sign = (a ^ b) & __mover_SIGN, x = a & ~__mover_SIGN, y = b & ~__mover_SIGN;
    if (x > __mover_INFINITY || y > __mover_INFINITY)
        return __mover_NAN;
    if (x == __mover_INFINITY || y == __mover_INFINITY)
        return x && y ? sign | __mover_INFINITY : __mover_NAN;
    if (!x || !y)
        return sign;
    int ea, eb;
    x = __mover_normal(x, &ea) << 10;
    y = __mover_normal(y, &eb) << 11;
    /* The upper half of the product of 128 bits. */
    __mover_bits xh = x >> 32, xl = x & 0xFFFFFFFFull, yh = y >> 32, yl = y & 0xFFFFFFFFull;
    __mover_bits low = xl * yl, middle = xh * yl + (low >> 32);
    __mover_bits other = xl * yh + (middle & 0xFFFFFFFFull);
    __mover_bits z = xh * yh + (middle >> 32) + (other >> 32);
    if ((other & 0xFFFFFFFFull) || (low & 0xFFFFFFFFull))
        z |= 1;
    int e = ea + eb - 0x3FF;
    if (z < 0x4000000000000000ull) {
        e--;
        z <<= 1;
    }
    return __mover_round(sign, e, z);
}
__mover_bits __mover_float_div(__mover_bits a, __mover_bits b) {
    __mover_bits sign = (a ^ b) & __mover_SIGN, x = a & ~__mover_SIGN, y = b & ~__mover_SIGN;
    if (x > __mover_INFINITY || y > __mover_INFINITY)
        return __mover_NAN;
    if (x == __mover_INFINITY)
        return y == __mover_INFINITY ? __mover_NAN : sign | __mover_INFINITY;
    if (y == __mover_INFINITY)
        return sign;
    if (!y)
        return x ? sign | __mover_INFINITY : __mover_NAN;
    if (!x)
        return sign;
    int ea, eb;
    x = __mover_normal(x, &ea);
    y = __mover_normal(y, &eb);
    int e = ea - eb + 0x3FE;
    if (x < y) {
        e--;
        x <<= 1;
    }
    __mover_bits z = 0;
    for (int i = 0; i < 63; i++) {
        z <<= 1;
        if (x >= y) {
            x -= y;
            z |= 1;
        }
        x <<= 1;
    }
    return __mover_round(sign, e, z | (x != 0));
}
/* -1 if less, 0 if equal, 1 if greater, 2 if one is not a number. */
int __mover_float_compare(__mover_bits a, __mover_bits b) {
    if (__mover_is_nan(a) || __mover_is_nan(b))
        return 2;
    if (a == b || !((a | b) & ~__mover_SIGN))
        return 0;
    int is_less = (a ^ b) & __mover_SIGN ? (a & __mover_SIGN) != 0
                                         : (a < b) != ((a & __mover_SIGN) != 0);
    return is_less ? -1 : 1;
}
static __mover_bits __mover_from_magnitude(__mover_bits sign, __mover_bits x) {
    if (!x)
        return 0;
    if (x & __mover_SIGN)
        return __mover_round(sign, 0x43D, x >> 1 | (x & 1));
    return __mover_normalise_and_round(sign, 0x43C, x);
}
__mover_bits __mover_float_from_signed(__mover_bits x) {
    __mover_bits sign = x & __mover_SIGN;
    return __mover_from_magnitude(sign, sign ? 0 - x : x);
}
__mover_bits __mover_float_from_unsigned(__mover_bits x) { return __mover_from_magnitude(0, x); }
/* Towards zero. What does not fit is undefined in C: here what x86 makes of it. */
__mover_bits __mover_float_to_signed(__mover_bits x) {
    __mover_bits sign = x & __mover_SIGN;
    int e = __mover_exponent(x);
    if (e < 0x3FF)
        return 0;
    if (e >= 0x3FF + 63)
        return __mover_SIGN;
    __mover_bits fraction = (x & __mover_FRACTION) | __mover_HIDDEN;
    int by = e - 0x433;
    fraction = by >= 0 ? fraction << by : fraction >> -by;
    return sign ? 0 - fraction : fraction;
}
__mover_bits __mover_float_to_unsigned(__mover_bits x) {
    if (__mover_exponent(x) == 0x3FF + 63 && !(x & __mover_SIGN))
        return ((x & __mover_FRACTION) | __mover_HIDDEN) << 11;
    return __mover_float_to_signed(x);
}
/* Between the two formats. */
__mover_bits __mover_float_extend(unsigned x) {
    __mover_bits sign = (__mover_bits)(x & 0x80000000u) << 32;
    int e = (int)(x >> 23) & 0xFF;
    __mover_bits fraction = x & 0x7FFFFFu;
    if (e == 0xFF)
        return fraction ? __mover_NAN : sign | __mover_INFINITY;
    if (e == 0) {
        if (!fraction)
            return sign;
        int by = __mover_leading_zeros(fraction) - 40;
        fraction <<= by;
        return __mover_pack(sign, 0x380 - by, fraction << 29);
    }
    return __mover_pack(sign, e + 0x380, fraction << 29);
}
/* The leading bit is bit 30; seven bits are rounded away. */
static unsigned __mover_round_single(unsigned sign, int exponent, __mover_bits x) {
    if (exponent < 0) {
        x = __mover_shift_jam(x, -exponent);
        exponent = 0;
    } else if (exponent > 0xFD || (exponent == 0xFD && x + 0x40 >= 0x80000000ull)) {
        return sign | 0x7F800000u;
    }
    unsigned rest = x & 0x7F;
    unsigned z = (unsigned)((x + 0x40) >> 7);
    if (rest == 0x40)
        z &= ~1u;
    return sign + ((unsigned)(z ? exponent : 0) << 23) + z;
}
unsigned __mover_float_truncate(__mover_bits x) {
    unsigned sign = (unsigned)(x >> 32) & 0x80000000u;
    int e = __mover_exponent(x);
    __mover_bits fraction = x & __mover_FRACTION;
    if (e == 0x7FF)
        return fraction ? 0x7FC00000u : sign | 0x7F800000u;
    if (e == 0 && !fraction)
        return sign;
    return __mover_round_single(sign, e - 0x381,
                                __mover_shift_jam(fraction, 22) | (e ? 0x40000000u : 0));
}
static unsigned __mover_single_from_magnitude(unsigned sign, __mover_bits x) {
    if (!x)
        return 0;
    int by = __mover_leading_zeros(x);
    /* The leading bit becomes bit 30. */
    __mover_bits y = by >= 33 ? x << (by - 33) : __mover_shift_jam(x, 33 - by);
    return __mover_round_single(sign, 0x7F + 62 - by, y);
}
unsigned __mover_float_single_from_signed(__mover_bits x) {
    return x & __mover_SIGN ? __mover_single_from_magnitude(0x80000000u, 0 - x)
                            : __mover_single_from_magnitude(0, x);
}
unsigned __mover_float_single_from_unsigned(__mover_bits x) {
    return __mover_single_from_magnitude(0, x);
}
