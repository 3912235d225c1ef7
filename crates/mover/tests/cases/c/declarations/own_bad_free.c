// expect: error C011
// A function of the program is not taken for one of the checker's own.
void bad_free(int);
int main(void) {
    bad_free(1);
    return 0;
}
