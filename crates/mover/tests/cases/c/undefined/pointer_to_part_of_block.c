// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
struct s {
    int a;
    int *p;
};
int main(void) {
    struct s s;
    {
        int l[2];
        l[0] = 1;
        s.p = &l[1];
    }
    *s.p = 2;
}
