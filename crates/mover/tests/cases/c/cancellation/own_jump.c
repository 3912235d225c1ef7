// expect: error C012
// message: `__sigsetjmp` is not supported
// The program's own jumps are no cleanup handlers.
#include <setjmp.h>

static sigjmp_buf place;

int main(void) {
    if (sigsetjmp(place, 0) == 0)
        siglongjmp(place, 1);
    return 0;
}
