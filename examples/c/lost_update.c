/* Two increments without a lock: one can be lost.
 * expect: unsafe unreach-call
 */
#include <assert.h>
#include <pthread.h>

int counter;

void *increment(void *arg) {
    (void)arg;
    counter++;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, increment, NULL);
    pthread_create(&b, NULL, increment, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
