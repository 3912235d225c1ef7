// expect: error C011
// A function of the program is not taken for one of the checker's own.
int failed_for(int, int);
int main(void) {
    failed_for(1, 1);
    return 0;
}
