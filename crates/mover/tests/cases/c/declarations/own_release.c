// expect: error C011
// A function of the program is not taken for one of the checker's own.
int release();
int main(void) {
    release(1);
    return 0;
}
