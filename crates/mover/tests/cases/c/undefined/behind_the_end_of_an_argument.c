// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
static int get(int *p) {
    return p[3];
}

int main(void) {
    int a[3] = {0};
    return get(a);
}
