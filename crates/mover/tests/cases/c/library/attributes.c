// expect: safe
// Attributes have the values that were set.
#include <assert.h>
#include <pthread.h>
#include <time.h>
int main(void) {
    size_t size;
    int value;
    clockid_t clock;
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 65536);
    pthread_attr_setguardsize(&a, 4096);
    pthread_attr_getstacksize(&a, &size);
    assert(size == 65536);
    pthread_attr_getguardsize(&a, &size);
    assert(size == 4096);
    pthread_attr_setscope(&a, PTHREAD_SCOPE_PROCESS);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    pthread_attr_getscope(&a, &value);
    assert(value == PTHREAD_SCOPE_PROCESS);
    pthread_attr_getdetachstate(&a, &value);
    assert(value == PTHREAD_CREATE_DETACHED);
    pthread_condattr_t c;
    pthread_condattr_init(&c);
    pthread_condattr_setclock(&c, CLOCK_MONOTONIC);
    pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
    pthread_condattr_getclock(&c, &clock);
    assert(clock == CLOCK_MONOTONIC);
    pthread_condattr_getpshared(&c, &value);
    assert(value == PTHREAD_PROCESS_SHARED);
}
