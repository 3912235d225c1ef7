// expect: safe
// What is assumed is in the verdict.
// message: creating threads, locks and keys is assumed to succeed (first at
#include <pthread.h>

pthread_mutex_t m;

int main(void) {
    return pthread_mutex_init(&m, 0) != 0;
}
