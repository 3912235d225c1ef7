// expect: error C010
// What is not supported is named with its line.
// message: not supported
// message: wide_multiplication.c:8
__int128 g;

int main(void) {
    g = g * g;
    return 0;
}
