// expect: safe
static int odd;

int main(void) {
    int x = 0;
    if (odd)
        __asm__("cpuid" : "=a"(x));
    return x;
}
