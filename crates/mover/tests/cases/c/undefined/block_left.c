// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int main(void) {
    int *p;
    {
        int l = 1;
        p = &l;
    }
    *p = 2;
}
