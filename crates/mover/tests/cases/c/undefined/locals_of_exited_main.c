// expect: unsafe memory-safety
// What the standard leaves undefined is found by every engine.
// engines: explicit bmc ic3
#include <pthread.h>

pthread_t of_main;

void *t(void *p) {
    pthread_join(of_main, 0);
    *(int *)p = 2;
    return 0;
}

int main(void) {
    int z = 0;
    pthread_t p;
    of_main = pthread_self();
    pthread_create(&p, 0, t, &z);
    pthread_exit(0);
}
