// expect: error C011
// A function of the program is not taken for one of the checker's own.
int object_size(void *);
int main(void) {
    object_size(0);
    return 0;
}
