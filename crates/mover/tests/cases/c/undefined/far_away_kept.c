// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int a[2], b[2], *q;

int main(void) {
    volatile long i = 1L << 30;
    q = &b[0];
    *q = 1;
    q = &a[0];
    *q = 2;
    q = &b[i];
    *q = 1;
}
