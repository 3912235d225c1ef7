// expect: safe
// engines: explicit/none,dynamic
// options: -DWRONG=(sum>8)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DWRONG=(sum==8)
// expect: unsafe unreach-call
// engines: explicit/dynamic
// options: -DWRONG=(sum==2)
// expect: safe
// engines: explicit/dynamic
// options: -DWRONG=(sum<2)
// The environment chooses numbers that are assumed to lie between 1 and 4.
void reach_error(void);
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void __VERIFIER_assume(int);

int main(void) {
    int a = __VERIFIER_nondet_int();
    __VERIFIER_assume(a >= 1);
    __VERIFIER_assume(a < 5);
    unsigned b = __VERIFIER_nondet_uint();
    __VERIFIER_assume(b <= 4);
    __VERIFIER_assume(b != 0);
    unsigned sum = a + b;
    if (WRONG) reach_error();
    return 0;
}
