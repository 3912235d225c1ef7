// expect: safe
#include <assert.h>

static double g = 1.5;

int main(void) {
    double x = 2.0 * 3.0;
    g = x;
    int y = (int)(1.5 * 2);
    assert(y == 3);
}
