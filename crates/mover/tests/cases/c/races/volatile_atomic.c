// expect: unsafe no-data-race
// `volatile` is not atomic (C11 5.1.2.4).
// expect: safe
// Unless it is said to be.
// options: --volatile-atomic
// without: sequential consistency
// expect: unsafe no-data-race
// What is not volatile stays a race.
// options: --volatile-atomic -DPLAIN
#include <assert.h>
#include <pthread.h>

#ifdef PLAIN
static int flag;
#else
static volatile int flag;
#endif
static int data;

static void *writer(void *arg) {
    data = 5;
    flag = 1;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    if (flag)
        assert(data == 5);
    pthread_join(t, 0);
    return 0;
}
