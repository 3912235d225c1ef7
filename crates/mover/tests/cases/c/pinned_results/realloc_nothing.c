// expect: unsafe unreach-call
// realloc to 0 bytes may free the block and return null, as glibc does.
// engines: all
#include <assert.h>
#include <stdlib.h>
int main(void) {
    char *p = malloc(4);
    char *q = realloc(p, 0);
    assert(q != 0);
    free(q);
}
