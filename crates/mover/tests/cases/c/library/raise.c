// expect: safe
// Nobody handles the signal, so it ends the process.
// expect: error C010
// message: `raise` in a program that sets what signals do
// options: -DHANDLED
// expect: unsafe unreach-call
// A signal that is ignored by default.
// options: -DIGNORED
#include <assert.h>
#include <signal.h>

static void handle(int number) {}

int main(void) {
#ifdef HANDLED
    signal(SIGTERM, handle);
#endif
#ifdef IGNORED
    raise(SIGCHLD);
#else
    raise(SIGTERM);
#endif
    assert(0);
    return 0;
}
