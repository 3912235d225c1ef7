// expect: error C010
// message: too few arguments
void __VERIFIER_assume(void);
int main(void) {
    __VERIFIER_assume();
    return 0;
}
