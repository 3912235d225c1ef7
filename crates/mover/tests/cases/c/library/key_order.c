// expect: unsafe unreach-call
// expect: safe
// options: -DEITHER
// POSIX leaves open in which order the destructors of thread-specific data run; glibc takes that of the keys.
#include <assert.h>
#include <pthread.h>

pthread_key_t a, b;
int first;

void end_a(void *p) {
    if (!first)
        first = 1;
}
void end_b(void *p) {
    if (!first)
        first = 2;
}

void *use(void *p) {
    pthread_setspecific(a, &a);
    pthread_setspecific(b, &b);
    return 0;
}

int main(void) {
    pthread_t t;
    pthread_key_create(&a, end_a);
    pthread_key_create(&b, end_b);
    pthread_create(&t, 0, use, 0);
    pthread_join(t, 0);
#ifdef EITHER
    assert(first == 1 || first == 2);
#else
    assert(first == 1);
#endif
    return 0;
}
