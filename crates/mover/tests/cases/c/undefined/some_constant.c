// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int z = 1;

static void set(char *p) {
    p[0] = 1;
}

int main(void) {
    char own[2];
    char *p = z ? "abc" : own;
    set(p);
}
