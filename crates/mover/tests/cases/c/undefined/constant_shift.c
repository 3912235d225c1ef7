// expect: unsafe unreach-call
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int x;

int main(void) {
    x = 1 << 40;
    return 0;
}
