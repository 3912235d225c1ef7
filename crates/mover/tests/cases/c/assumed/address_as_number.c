// expect: safe
// What is assumed is in the verdict.
// message: addresses are used as integers, and their values differ between machines (first at
int x, y;

int main(void) {
    return ((unsigned long)&x & 15) != 0;
}
