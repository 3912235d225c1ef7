// expect: unsafe unreach-call
// A structure of 20 bytes comes back through memory.
// engines: bmc
extern void reach_error(void);
struct row { int a[5]; };
extern struct row __VERIFIER_nondet_row(void);
int main(void) {
    struct row r = __VERIFIER_nondet_row();
    if (r.a[0] == 1 && r.a[4] == 5)
        reach_error();
    return 0;
}
