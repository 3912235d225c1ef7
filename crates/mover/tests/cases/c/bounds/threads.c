// expect: unknown
// A bound that is met makes the verdict unknown.
// options: --threads 3
// message: more than 3 threads
// message: a larger --threads
// expect: safe
// options: --threads 5
#include <pthread.h>

static void *work(void *arg) {
    return arg;
}

int main(void) {
    pthread_t t[5];
    for (int i = 0; i < 5; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 5; i++) pthread_join(t[i], NULL);
}
