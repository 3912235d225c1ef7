// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int z;

int main(void) {
    int *p, q;
    {
        int l = 1;
        p = z ? &q : &l;
    }
    *p = 2;
}
