/* Peterson's algorithm for two threads, with sequentially consistent atomics.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_bool wants[2];
atomic_int turn;
int inside;

void *thread(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    for (int round = 0; round < 2; round++) {
        wants[me] = 1;
        turn = other;
        while (wants[other] && turn == other)
            ;
        inside++;
        assert(inside == 1);
        inside--;
        wants[me] = 0;
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, (void *)0);
    pthread_create(&b, NULL, thread, (void *)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
