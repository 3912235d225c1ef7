// expect: unsafe unreach-call
// A key that was deleted cannot be used.
// options: --property unreach-call
// engines: all
#include <assert.h>
#include <pthread.h>
int main(void) {
    pthread_key_t k;
    pthread_key_create(&k, 0);
    pthread_key_delete(k);
    assert(pthread_setspecific(k, &k) == 0);
}
