// expect: unsafe unreach-call
// Peterson's algorithm is for one thread on each side.
// options: --property unreach-call
// engines: auto
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag[2], turn;
int inside;

void run(int me) {
    flag[me] = 1;
    turn = 1 - me;
    while (flag[1 - me] && turn == 1 - me)
        ;
    inside++;
    assert(inside == 1);
    inside--;
    flag[me] = 0;
}

void *left(void *arg) {
    run(0);
    return 0;
}

void *right(void *arg) {
    run(1);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, left, 0);
        pthread_create(&t, 0, right, 0);
    }
    return 0;
}
