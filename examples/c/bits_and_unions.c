/* Bit-fields, unions, enums, integer widths and conversions.
 * expect: safe
 */
#include <assert.h>
#include <stdint.h>

struct flags {
    unsigned ready : 1;
    unsigned mode : 3;
    int level : 4;
};

union word {
    uint32_t whole;
    uint8_t bytes[4];
    struct {
        uint16_t low, high;
    } halves;
};

enum color { RED = 3, GREEN };

static struct flags f;
static union word w;

int main(void) {
    f.ready = 1;
    f.mode = 9; /* only three bits */
    f.level = -3;
    assert(f.ready == 1 && f.mode == 1 && f.level == -3);
    w.whole = 0x12345678;
    assert(w.bytes[0] == 0x78 && w.halves.high == 0x1234);
    w.bytes[3] = 0xff;
    assert(w.whole == 0xff345678u);
    enum color c = GREEN;
    assert(c == 4);
    int8_t narrow = (int8_t)200;
    assert(narrow == -56);
    uint64_t wide = (uint64_t)UINT32_MAX + 1;
    assert(wide >> 32 == 1);
    unsigned wraps = 0;
    wraps--;
    assert(wraps == UINT32_MAX);
    assert(-7 / 2 == -3 && -7 % 2 == -1);
    return 0;
}
