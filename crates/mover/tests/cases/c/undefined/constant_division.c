// expect: unsafe unreach-call
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
int main(void) {
    int x = 1 / 0;
    return x;
}
