// expect: safe
// options: --property unreach-call
// engines: explicit/none,static,phase,dynamic bmc/phase ic3/dynamic
// reduces: 4
// object: lock lock
// The check behind the acquisition is merged with it: the edge that fails it does not observe the lock.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int n;

void *work(void *arg) {
    long own = (long)arg;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        assert(own < 2);
        n++;
        n++;
        assert(n % 2 == 0);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)1);
    pthread_create(&b, NULL, work, (void *)0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
