/* Lamport's bakery for N threads, one visit each. What customers read of one another is
 * atomic; `inside` needs not be, as the algorithm keeps them apart.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif

_Atomic int choosing[N], number[N];
int inside;

void *customer(void *arg) {
    int me = (int)(long)arg;
    choosing[me] = 1;
    int highest = 0;
    for (int i = 0; i < N; i++) {
        int other = number[i];
        if (other > highest)
            highest = other;
    }
    number[me] = highest + 1;
    choosing[me] = 0;
    for (int i = 0; i < N; i++) {
        while (choosing[i])
            ;
        for (;;) {
            int theirs = number[i];
            int mine = number[me];
            if (theirs == 0 || theirs > mine || (theirs == mine && i >= me))
                break;
        }
    }
    inside++;
    assert(inside == 1);
    inside--;
    number[me] = 0;
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, customer, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
