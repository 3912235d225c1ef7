// expect: safe
// What is assumed is in the verdict.
// message: addresses are taken for numbers, which other machines number otherwise (first at
int x, y;

int main(void) {
    return ((unsigned long)&x & 15) != 0;
}
