// expect: unsafe unreach-call
// Each element has a value of its own, and the length need not be constant.
// engines: auto bmc
extern void reach_error(void);
extern void __VERIFIER_nondet_memory(void *, unsigned long);
extern unsigned __VERIFIER_nondet_uint(void);
short row[3];
int main(void) {
    unsigned n = __VERIFIER_nondet_uint() % 4;
    __VERIFIER_nondet_memory(row, n * sizeof row[0]);
    if (row[0] == 5 && row[1] == 7 && row[2] == 0)
        reach_error();
    return 0;
}
