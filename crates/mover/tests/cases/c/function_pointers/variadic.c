// expect: safe
// Functions of every kind are called through pointers.
// options: --property unreach-call --property memory-cleanup
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int sum(int n, ...) {
    va_list l;
    va_start(l, n);
    int s = 0;
    while (n--) s += va_arg(l, int);
    va_end(l);
    return s;
}

int (*volatile f)(int, ...) = sum;

int main(void) {
    assert(f(2, 3, 4) == 7);
}
