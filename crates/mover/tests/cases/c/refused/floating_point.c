// expect: error C010
// What is not supported is named with its line.
// message: floating point
// message: floating_point.c:8
long double g;

int main(void) {
    return g * 2 > 1;
}
