// expect: unsafe no-overflow
// options: --property no-overflow
// expect: safe
// options: --property no-overflow -DWIDE
// Nobody looks at the sum, and it overflows all the same. A `short` is computed as an `int`.
int __VERIFIER_nondet_int(void);

int main(void) {
#ifdef WIDE
    short x = (short)__VERIFIER_nondet_int();
#else
    int x = __VERIFIER_nondet_int();
#endif
    x += 1;
    return 0;
}
