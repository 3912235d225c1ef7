// expect: unsafe unreach-call
// message: shift by the width of the type or more
// Nobody looks at the result of the shift.
int __VERIFIER_nondet_int(void);

int main(void) {
    int distance = __VERIFIER_nondet_int();
    int shifted = 1 << distance;
    return 0;
}
