// expect: safe
// Once read, it stays what it is; and a byte that was written keeps its value while the one beside it
// can be anything.
// without: uninitialised memory
// engines: explicit auto bmc
// expect: unsafe unreach-call
// options: -DWRONG
// engines: explicit auto bmc
#include <assert.h>
#include <stdlib.h>

struct two {
    unsigned char a, b;
};
static struct two *volatile shown;

int main(void) {
    struct two *p = malloc(sizeof *p);
    p->a = 1;
    shown = p;
#ifdef WRONG
    assert(shown->b != 200);
#else
    unsigned char first = shown->b;
    assert(shown->b == first && shown->a == 1);
#endif
    free(p);
    return 0;
}
