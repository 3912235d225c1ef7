// expect: safe
// Three creations stand for any number of them.
// options: --property unreach-call --threads any
// message: for any number of threads
//
// expect: safe
// options: --property unreach-call
// message: no assertion can fail
// without: for any number of threads
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int inside;

void *worker(void *unused) {
    pthread_mutex_lock(&lock);
    inside++;
    assert(inside == 1);
    inside--;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t one, two, three;
    pthread_create(&one, 0, worker, 0);
    pthread_create(&two, 0, worker, 0);
    pthread_create(&three, 0, worker, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    pthread_join(three, 0);
    return 0;
}
