// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
static void set(int **q) {
    int x = 1;
    *q = &x;
}

int main(void) {
    int *q;
    set(&q);
    *q = 4;
    return 0;
}
