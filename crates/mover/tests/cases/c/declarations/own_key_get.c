// expect: error C011
// A function of the program is not taken for one of the checker's own.
int key_get(int);
int main(void) {
    key_get(1);
    return 0;
}
