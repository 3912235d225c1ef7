// expect: unsafe no-data-race
// A data race.
// options: --property no-data-race
// engines: explicit/none,dynamic
// message: data race on x
#include <pthread.h>

int x;

void *one(void *arg) {
    int l = 0;
    x = 1;
    return (void *)(long)l;
}

void *two(void *arg) {
    int l = 0;
    return (void *)(long)l;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    x = 3;
    pthread_join(s, 0);
    return 0;
}
