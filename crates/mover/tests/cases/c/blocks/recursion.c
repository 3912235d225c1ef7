// expect: safe
// Variables of blocks live in their blocks.
// options: --property memory-cleanup --property unreach-call --property memory-safety
#include <assert.h>

static void fac(int n, int *out) {
    if (n == 0) *out = 1;
    else {
        int part;
        fac(n - 1, &part);
        *out = n * part;
    }
}

int main(void) {
    int r;
    fac(5, &r);
    assert(r == 120);
}
