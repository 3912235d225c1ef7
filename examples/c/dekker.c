/* Dekker's algorithm: the first solution of mutual exclusion in software.
 * Its own variables are atomic; `shared` needs not be, as it keeps the threads apart.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

_Atomic int wants0, wants1, turn;
int shared;

void *first(void *arg) {
    (void)arg;
    wants0 = 1;
    while (wants1) {
        if (turn != 0) {
            wants0 = 0;
            while (turn != 0)
                ;
            wants0 = 1;
        }
    }
    shared = 1;
    assert(shared == 1);
    turn = 1;
    wants0 = 0;
    return NULL;
}

void *second(void *arg) {
    (void)arg;
    wants1 = 1;
    while (wants0) {
        if (turn != 1) {
            wants1 = 0;
            while (turn != 1)
                ;
            wants1 = 1;
        }
    }
    shared = 2;
    assert(shared == 2);
    turn = 0;
    wants1 = 0;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
