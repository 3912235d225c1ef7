/* The same counter with atomic increments, as C11, GCC and old GCC spell them.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int c11;
int gcc, old;

void *increment(void *arg) {
    (void)arg;
    c11++;
    __atomic_fetch_add(&gcc, 1, __ATOMIC_SEQ_CST);
    __sync_fetch_and_add(&old, 1);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, increment, NULL);
    pthread_create(&b, NULL, increment, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(c11 == 2 && gcc == 2 && old == 2);
    return 0;
}
