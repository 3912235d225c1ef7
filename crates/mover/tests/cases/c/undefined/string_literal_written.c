// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int main(void) {
    char *p = "abc";
    p[0] = 1;
}
