// expect: unknown
// Several bounds are counted.
// options: --recursion 3
// engines: bmc ic3
// message: a larger --recursion
// without: --threads
// expect: unknown
// options: --recursion 3
// engines: bmc
// message: and one more bound is met; no violation in the runs that stay within these bounds
// expect: safe
// options: --recursion 12
// engines: bmc ic3
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int down(int n) {
    return n == 0 ? 0 : down(n - 1);
}

static int deep(int n) {
    return n == 0 ? 0 : 1 + deep(n - 1);
}

int main(void) {
    return __VERIFIER_nondet_int() % 2 ? 1 + down(9) : deep(9);
}
