// expect: safe
// The sum of two longs always fits: a formula over pairs of words.
// options: --property unreach-call --property no-overflow
// expect: unsafe no-overflow
// options: --property no-overflow -DWIDER
long __VERIFIER_nondet_long(void);
void reach_error(void);
int main(void) {
    long a = __VERIFIER_nondet_long(), b = __VERIFIER_nondet_long();
    __int128 sum = (__int128)a + b;
    if ((a < 0 && b < 0 && sum >= 0) || (a >= 0 && b >= 0 && sum < 0))
        reach_error();
#ifdef WIDER
    __int128 much = (__int128)a << 64;
    much = much + much;
    return much > 0;
#endif
    return 0;
}
