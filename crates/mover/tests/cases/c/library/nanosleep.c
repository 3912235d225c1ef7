// expect: safe
// A time that is none is refused (POSIX, nanosleep and clock_nanosleep: EINVAL).
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <time.h>

int main(void) {
    struct timespec good = {0, 999999999}, bad = {0, 1000000000}, negative = {-1, 0};
    assert(nanosleep(&good, NULL) == 0);
    assert(nanosleep(&bad, NULL) == -1 && errno == EINVAL);
    assert(nanosleep(&negative, &good) == -1);
    assert(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL) == EINVAL);
    nanosleep(&(struct timespec){0, 1}, NULL);
}
