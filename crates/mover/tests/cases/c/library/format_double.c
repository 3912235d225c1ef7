// expect: safe
// expect: unsafe unreach-call
// options: -DWRONG
#include <assert.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    char text[20];
    assert(snprintf(text, sizeof text, "%.2f|%g", 2.675, 1e-5) == 10);
#ifdef WRONG
    assert(strcmp(text, "2.68|1e-05") == 0);
#else
    assert(strcmp(text, "2.67|1e-05") == 0);
#endif
    return 0;
}
