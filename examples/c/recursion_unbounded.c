/* Recursion that does not end within the bound: mover does not claim anything.
 * options: --recursion 5
 * expect: unknown
 */
#include <assert.h>

static int depth;

static int down(int n) {
    depth++;
    return n == 0 ? 0 : 1 + down(n - 1);
}

int main(void) {
    int n = down(100);
    assert(n == 100);
    return 0;
}
