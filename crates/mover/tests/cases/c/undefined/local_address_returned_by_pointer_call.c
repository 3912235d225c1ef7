// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
static int *get(void) {
    int x = 1;
    int *p = &x;
    return p;
}

int *(*volatile f)(void) = get;

int main(void) {
    return *f();
}
