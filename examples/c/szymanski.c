/* Szymanski's algorithm: a waiting room with two doors.
 * The flags are atomic; `inside` needs not be, as they keep the threads apart.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

_Atomic int flag[2];
int inside;

void *thread(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    flag[me] = 1;
    while (flag[other] >= 3)
        ;
    flag[me] = 3;
    if (flag[other] == 1) {
        flag[me] = 2;
        while (flag[other] != 4)
            ;
    }
    flag[me] = 4;
    if (me == 1)
        while (flag[other] >= 2)
            ;
    inside++;
    assert(inside == 1);
    inside--;
    if (me == 0)
        for (;;) {
            int theirs = flag[other];
            if (theirs != 2 && theirs != 3)
                break;
        }
    flag[me] = 0;
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
