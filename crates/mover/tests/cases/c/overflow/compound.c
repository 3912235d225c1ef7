// expect: unsafe no-overflow
// options: --property no-overflow -DADD
// engines: all
// expect: unsafe no-overflow
// options: --property no-overflow -DSUBTRACT
// expect: unsafe no-overflow
// options: --property no-overflow -DMULTIPLY
// expect: unsafe no-overflow
// options: --property no-overflow -DINCREMENT
// expect: unsafe no-overflow
// options: --property no-overflow -DFIELD
// expect: safe
// Narrow types are computed as `int`, and the conversion back is defined by the compiler.
// options: --property no-overflow -DNARROW
#include <limits.h>
static int x = INT_MAX;
static short s = SHRT_MAX;
static struct { int b : 32; } f = { INT_MAX };
int main(void) {
#if defined ADD
    x += 1;
#elif defined SUBTRACT
    x -= -1;
#elif defined MULTIPLY
    x *= 2;
#elif defined INCREMENT
    x++;
#elif defined FIELD
    f.b += 1;
#else
    s += 1;
    s++;
#endif
}
