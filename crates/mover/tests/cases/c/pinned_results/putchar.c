// expect: unsafe unreach-call
// putchar returns the character that it wrote, or EOF if it could not.
// engines: auto bmc
#include <assert.h>
#include <stdio.h>

int main(void) {
    assert(putchar('a') == 'a');
    return 0;
}
