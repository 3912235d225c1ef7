// expect: unsafe unreach-call
// A key that was deleted cannot be used.
// options: --property unreach-call
// engines: all
#include <assert.h>
#include <pthread.h>
static void gone(void *p) { (void)p; }
int main(void) {
    pthread_key_t k;
    pthread_key_create(&k, gone);
    pthread_key_delete(k);
    assert(pthread_setspecific(k, &k) == 0);
}
