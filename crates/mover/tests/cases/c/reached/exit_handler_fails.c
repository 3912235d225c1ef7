// expect: unsafe unreach-call
#include <assert.h>
#include <stdlib.h>
static int count;
static void check(void) {
    assert(count == 1);
}

int main(void) {
    atexit(check);
    count = 2;
    exit(0);
}
