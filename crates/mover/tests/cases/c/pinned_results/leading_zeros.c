// expect: unsafe unreach-call
// The number of leading zeros of 0 is not defined.
// engines: all
// message: of 0
int z;
int main(void) { return __builtin_clz(z) == 32; }
