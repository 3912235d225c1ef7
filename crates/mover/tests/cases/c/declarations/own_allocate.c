// expect: error C011
// A function of the program is not taken for one of the checker's own.
int allocate(int);
int main(void) {
    allocate(1);
    return 0;
}
