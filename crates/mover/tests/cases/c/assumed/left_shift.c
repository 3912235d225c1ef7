// expect: safe
// What is assumed is in the verdict.
// options: --property no-overflow
// message: left shifts are not checked for overflow (first at
int x = 1, y = 31;

int main(void) {
    x = x << y;
}
