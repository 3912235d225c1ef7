// expect: safe
// Functions of every kind are called through pointers.
// options: --property unreach-call --property memory-cleanup
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

pthread_key_t k;

void *t(void *a) {
    pthread_setspecific(k, malloc(3));
    return 0;
}

int main(void) {
    pthread_t p;
    pthread_key_create(&k, free);
    pthread_create(&p, 0, t, 0);
    pthread_join(p, 0);
}
