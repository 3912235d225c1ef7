// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
#include <pthread.h>

void *set(void *a) {
    *(int *)a = 5;
    return 0;
}

int main(void) {
    pthread_t t;
    {
        int l = 1;
        pthread_create(&t, 0, set, &l);
    }
    pthread_join(t, 0);
}
