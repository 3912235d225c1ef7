// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
const int k = 1;

int main(void) {
    *(int *)&k = 2;
}
