/* Input from outside, restricted by assumptions.
 * expect: unsafe unreach-call
 */
extern unsigned char __VERIFIER_nondet_uchar(void);
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
    unsigned char x = __VERIFIER_nondet_uchar();
    __VERIFIER_assume(x > 100 && x < 140);
    if (__VERIFIER_nondet_bool())
        x *= 2; /* wraps round from 128 on */
    if (x == 2)
        reach_error();
    return 0;
}
