// expect: safe
// It is called only where it is there.
// engines: all
int w(void) __attribute__((weak));
int main(void) {
    if (w)
        w();
}
