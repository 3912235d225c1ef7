// expect: error C011
// A function of the program is not taken for one of the checker's own.
int swap(int, int);
int main(void) {
    swap(1, 2);
    return 0;
}
