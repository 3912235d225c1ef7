// expect: safe
// What is assumed is in the verdict.
// message: variable-length arrays live until their thread exits (first at
int main(void) {
    volatile int n = 3;
    {
        char a[n];
        a[n - 1] = 0;
    }
    return 0;
}
