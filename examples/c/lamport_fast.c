/* Lamport's fast mutual exclusion: without contention seven accesses.
 * Its own variables are atomic; `inside` needs not be, as it keeps the threads apart.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#define N 2

_Atomic int x, y;
_Atomic int busy[N + 1];
int inside;

void *thread(void *arg) {
    int me = (int)(long)arg;
start:
    busy[me] = 1;
    x = me;
    if (y != 0) {
        busy[me] = 0;
        while (y != 0)
            ;
        goto start;
    }
    y = me;
    if (x != me) {
        busy[me] = 0;
        for (int i = 1; i <= N; i++)
            while (busy[i])
                ;
        if (y != me) {
            while (y != 0)
                ;
            goto start;
        }
    }
    inside++;
    assert(inside == 1);
    inside--;
    y = 0;
    busy[me] = 0;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, thread, (void *)1);
    pthread_create(&b, NULL, thread, (void *)2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
