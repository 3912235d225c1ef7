// expect: safe
// A product that does not fit a word, and its quotient: all engines compute with pairs of words.
// engines: all
// expect: unsafe unreach-call
// options: -DWRONG
// engines: all
#include <assert.h>
static unsigned long scaled(unsigned long ticks, unsigned long by, unsigned long frequency) {
    return (unsigned long)((unsigned __int128)ticks * by / frequency);
}
int main(void) {
    unsigned long ticks = 0x8000000000000000ul;
#ifdef WRONG
    assert(scaled(ticks, 1000000000, 3000000000) == ticks * 1000000000 / 3000000000);
#else
    assert(scaled(ticks, 1000000000, 3000000000) == 3074457345618258602ul);
#endif
}
