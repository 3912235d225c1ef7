// expect: safe
// What no run reaches does not matter: `f` is called only where x is 2.
// engines: all
int f(int);
int x;

int main(void) {
    x = 1;
    if (x == 2)
        return f(1);
    return 0;
}
