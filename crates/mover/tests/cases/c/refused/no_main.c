// expect: error C013
// message: no function `main`
int f(void) {
    return 0;
}
