// expect: safe
// engines: explicit/none,dynamic
// options: -DWRONG=(a>99||b>4)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DWRONG=(a==99&&b==4)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DWRONG=(a==0&&b==0)
// Intervals with two sides, with the constant on the left, and by a function that ends the process.
#include <stdlib.h>
void reach_error(void);
int __VERIFIER_nondet_int(void);
void __VERIFIER_assume(int);

static void assume_abort_if_not(int condition) {
    if (!condition)
        abort();
}

int main(void) {
    int a = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= a && a < 100);
    int b = __VERIFIER_nondet_int();
    assume_abort_if_not(!(b < 0 || 5 <= b));
    if (WRONG) reach_error();
    return 0;
}
