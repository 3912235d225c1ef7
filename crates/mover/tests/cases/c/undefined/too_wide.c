// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int main(void) {
    int x = 1;
    return *(long *)&x != 0;
}
