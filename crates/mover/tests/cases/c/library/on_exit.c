// expect: safe
// Functions registered with `on_exit` get the status, and run in reverse order with those of `atexit`.
// expect: unsafe unreach-call
// options: -DWRONG
#define _DEFAULT_SOURCE
#include <assert.h>
#include <stdlib.h>

static int order, value = 5;

static void last(void) { assert(order == 1); }

static void first(int status, void *argument) {
    assert(status == 3 && argument == &value);
#ifdef WRONG
    assert(order == 1);
#endif
    order = 1;
}

int main(void) {
    atexit(last);
    on_exit(first, &value);
    exit(3);
}
