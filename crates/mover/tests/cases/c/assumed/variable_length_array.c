// expect: safe
// What is assumed is in the verdict.
// message: arrays of variable length last until their thread ends (first at
int main(void) {
    volatile int n = 3;
    {
        char a[n];
        a[n - 1] = 0;
    }
    return 0;
}
