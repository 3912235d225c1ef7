// expect: safe
// A pointer to the first of several fields or rows reaches all of the variable.
#include <assert.h>

int m[3][4];

struct {
    char tag[3];
    int v;
} s;

static int sum(int *p, int n) {
    int t = 0;
    for (int i = 0; i < n; i++) t += p[i];
    return t;
}

int main(void) {
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) m[i][j] = i * j;
    assert(sum(&m[0][0], 12) == 18);
    s.v = 1;
    unsigned char *q = (unsigned char *)&s;
    int z = 0;
    for (unsigned i = 0; i < sizeof s; i++) z += q[i];
    assert(z == 1);
    return 0;
}
