// expect: unsafe no-data-race
// A data race.
// options: --property no-data-race
// engines: explicit/none,dynamic
// message: data race on x
#include <pthread.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
int x, a[2];

void *one(void *arg) {
    int l = 0;
    __VERIFIER_atomic_begin();
    a[0] = 1;
    x = 1;
    __VERIFIER_atomic_end();
    return (void *)(long)l;
}

void *two(void *arg) {
    int l = 0;
    x = 2;
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
