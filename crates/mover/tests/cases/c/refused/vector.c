// expect: error C010
// What is not supported is named with its line.
// message: not supported
// message: vector.c:8
typedef int quad __attribute__((vector_size(16)));
quad g;
int main(void) {
    g = g * g;
    return 0;
}
