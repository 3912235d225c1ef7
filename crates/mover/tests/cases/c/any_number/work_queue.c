// expect: safe
// A bounded queue: its length stays within its bounds.
// options: --property unreach-call
// engines: modular
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
unsigned length;

void *worker(void *arg) {
    pthread_mutex_lock(&m);
    if (length < 8)
        length++;
    else
        length--;
    assert(length <= 8);
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1)
        pthread_create(&t, 0, worker, 0);
    return 0;
}
