// expect: error C011
// A function of the program is not taken for one of the checker's own.
int new_key(void);
int main(void) {
    new_key();
    return 0;
}
