// expect: safe
// expect: unsafe unreach-call
// options: -DSURE
#include <assert.h>
#include <sys/select.h>

int main(void) {
    fd_set files;
    struct timeval time = {1, 0};
    FD_ZERO(&files);
    FD_SET(3, &files);
    int ready = select(4, &files, 0, 0, &time);
    assert(ready >= -1 && ready <= 1);
    if (ready == 1)
        assert(FD_ISSET(3, &files));
    if (ready == 0)
        assert(!FD_ISSET(3, &files));
#ifdef SURE
    assert(ready >= 0);
#endif
    return 0;
}
