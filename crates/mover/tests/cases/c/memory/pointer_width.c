// expect: unsafe unreach-call
// Pointers have 32 bits if asked.
// options: --32
// expect: safe
extern void reach_error(void);
long wide;

int main(void) {
    wide = 1L << 31;
    if (wide < 0 && sizeof(void *) == 4) reach_error();
}
