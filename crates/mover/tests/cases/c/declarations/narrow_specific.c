// expect: safe
// Declarations with other types of parameters.
// engines: all
#include <assert.h>
int pthread_key_create(unsigned *, void *);
int pthread_setspecific(long, int);
void *pthread_getspecific(int);
int main(void) {
    unsigned k;
    pthread_key_create(&k, 0);
    pthread_setspecific(k, 5);
    assert(pthread_getspecific(k) == (void *)5);
}
