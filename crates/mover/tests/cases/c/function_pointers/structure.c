// expect: safe
// Functions of every kind are called through pointers.
// options: --property unreach-call --property memory-cleanup
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct s {
    long a[4];
};
void set(struct s x) {
    x.a[0] = 1;
}

void (*volatile f)(struct s) = set;

int main(void) {
    struct s x = {{0}};
    f(x);
    assert(x.a[0] == 0);
}
