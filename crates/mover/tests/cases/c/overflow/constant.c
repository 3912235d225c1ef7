// expect: error C002
// Nothing of the computation is left in LLVM IR, but the compiler has seen it.
// options: --property no-overflow
// message: overflow in expression
// expect: safe
int main(void) {
    int x = 2147483647 + 1;
    return x;
}
