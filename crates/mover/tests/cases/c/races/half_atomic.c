// expect: unsafe no-data-race
// A data race.
// options: --property no-data-race
// engines: explicit/none,dynamic
// message: data race on flag
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag;

void *one(void *arg) {
    int l = 0;
    flag = 1;
    return (void *)(long)l;
}

void *two(void *arg) {
    int l = 0;
    *(int *)&flag = 2;
    return (void *)(long)l;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
