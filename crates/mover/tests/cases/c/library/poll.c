// expect: safe
// What is ready is any of what was asked for.
// expect: unsafe unreach-call
// It may be nothing, and the call may fail.
// options: -DSURE
#include <assert.h>
#include <poll.h>

int main(void) {
    struct pollfd files[2] = {{0, POLLIN, 0}, {-1, POLLIN, 0}};
    int ready = poll(files, 2, 100);
    assert(ready >= -1 && ready <= 1);
    if (ready > 0) {
        assert(files[0].revents != 0 && files[1].revents == 0);
        assert((files[0].revents & ~(POLLIN | POLLERR | POLLHUP | POLLNVAL)) == 0);
    }
#ifdef SURE
    assert(ready == 1);
#endif
    return 0;
}
