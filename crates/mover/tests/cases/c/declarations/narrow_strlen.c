// expect: safe
// A declaration with another type of result.
// engines: all
unsigned int strlen(const char *);
char a[5] = "abc";
int main(void) {
    if (strlen(a) > 3u)
        __builtin_trap();
    return 0;
}
