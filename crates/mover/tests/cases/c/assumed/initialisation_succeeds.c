// expect: safe
// What is assumed is in the verdict.
// message: threads, locks and keys can always be made (first at
#include <pthread.h>

pthread_mutex_t m;

int main(void) {
    return pthread_mutex_init(&m, 0) != 0;
}
