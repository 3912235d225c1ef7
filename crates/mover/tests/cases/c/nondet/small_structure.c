// expect: unsafe unreach-call
// A structure of 16 bytes comes back in two registers.
// engines: auto bmc
extern void reach_error(void);
struct pair { long a, b; };
extern struct pair __VERIFIER_nondet_pair(void);
int main(void) {
    struct pair p = __VERIFIER_nondet_pair();
    if (p.a == 1 && p.b == 2)
        reach_error();
    return 0;
}
