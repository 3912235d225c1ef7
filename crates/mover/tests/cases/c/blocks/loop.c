// expect: safe
// Variables of blocks live in their blocks.
// options: --property memory-cleanup --property unreach-call --property memory-safety
#include <assert.h>

static int get(int *p) {
    return *p;
}

int main(void) {
    int s = 0;
    for (int i = 0; i < 3; i++) {
        int l = i;
        s += get(&l);
    }
    assert(s == 3);
}
