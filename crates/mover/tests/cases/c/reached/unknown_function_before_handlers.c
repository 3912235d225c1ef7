// expect: error C011
// What runs when the process exits does not hide that a run stops before.
// message: `step` has no body
// engines: auto explicit/none,dynamic bmc ic3
#include <assert.h>
#include <stdlib.h>
void step(void);
int done;

static void handler(void) {
    assert(done);
}

int main(void) {
    atexit(handler);
    step();
    done = 1;
    return 0;
}
