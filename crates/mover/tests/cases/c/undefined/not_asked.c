// expect: unknown
// An error of a property that was not asked for ends its run; nothing is known of what would follow.
// options: --property unreach-call
// engines: explicit/none,dynamic bmc
// message: some runs end in an error that was not asked for
// expect: unsafe memory-safety
// options: --property unreach-call --property memory-safety
// expect: unsafe unreach-call
// Among the other runs the search goes on.
// options: --property unreach-call -DFAILS
// engines: explicit/none,dynamic
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int turn;

void *one(void *arg) {
    turn = 1;
    return 0;
}

int main(void) {
    pthread_t s;
    pthread_create(&s, 0, one, 0);
    if (turn) {
        int *nothing = NULL;
        *nothing = 1;
    }
#ifdef FAILS
    pthread_join(s, 0);
    assert(turn == 0);
#endif
    return 0;
}
