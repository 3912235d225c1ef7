// expect: error C010
// What is not supported is named with its line.
// message: inline assembly
// message: inline_assembly.c:7
int main(void) {
    int x;
    __asm__("mov $1, %0" : "=r"(x));
    return x;
}
