// expect: unsafe unreach-call
// A race does not hide the assertion that fails after it; the answer tells both.
// options: --property no-data-race --property unreach-call --property no-deadlock
// engines: explicit/none,static,phase,dynamic
// message: also violated: no-data-race: data race on x
// message: holds: no-deadlock
#include <assert.h>
#include <pthread.h>

int x;

void *add(void *arg) {
    x++;
    return 0;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, add, 0);
    pthread_create(&t, 0, add, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(x == 2);
    return 0;
}
