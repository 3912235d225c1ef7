// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int main(void) {
    int a[2];
    a[2] = 5;
    return 0;
}
