// expect: safe
// engines: explicit/none,dynamic
// options: -DWRONG=(a<0||a>9||b>7||c>4)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DWRONG=(a==9)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DWRONG=(a==0&&b==7)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DWRONG=(c==4)
// expect: unsafe unreach-call
// options: -DSIGNED -DWRONG=(c==-4)
// Of these inputs only the remainder is used. A signed remainder of any number may be negative.
#include <stdlib.h>

void reach_error(void);
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    int a = rand() % 10;
    unsigned b = __VERIFIER_nondet_uint() & 7;
#ifdef SIGNED
    int c = __VERIFIER_nondet_int() % 5;
#else
    unsigned c = __VERIFIER_nondet_uint() % 5;
#endif
    if (WRONG) reach_error();
    return 0;
}
