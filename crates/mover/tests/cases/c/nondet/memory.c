// expect: unsafe unreach-call
// Bytes that the environment chooses can have any value.
// engines: auto bmc
extern void reach_error(void);
extern void __VERIFIER_nondet_memory(void *, unsigned long);
int main(void) {
    int x = 0;
    __VERIFIER_nondet_memory(&x, sizeof x);
    if (x == 5)
        reach_error();
    return 0;
}
