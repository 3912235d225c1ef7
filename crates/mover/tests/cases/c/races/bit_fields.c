// expect: unsafe no-data-race
// Bit-fields of one storage unit are the same memory (C11 3.14).
// options: --property no-data-race
// engines: explicit/none,dynamic bmc
// message: holding no lock
#include <pthread.h>

struct flags {
    unsigned first : 1;
    unsigned second : 1;
} flags;

void *one(void *arg) {
    flags.first = 1;
    return 0;
}

void *two(void *arg) {
    flags.second = 1;
    return 0;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
