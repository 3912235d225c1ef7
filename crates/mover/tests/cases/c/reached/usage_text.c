// expect: safe
// message: no run starts a thread
// Without arguments the program only prints how it is used.
#include <pthread.h>
#include <stdio.h>
static void *worker(void *arg) {
    return arg;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s COUNT\n", argv[0]);
        return 1;
    }
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
    return 0;
}
