// expect: unsafe unreach-call
// The number of trailing zeros of 0 is not defined.
// engines: all
// message: of 0
int z;

int main(void) { return __builtin_ctz(z) == 32; }
