// expect: safe
// Variables of blocks live in their blocks.
// options: --property memory-cleanup --property unreach-call --property memory-safety
#include <assert.h>
#include <pthread.h>

void *set(void *a) {
    *(int *)a = 5;
    return 0;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        int l = 1;
        pthread_t t;
        pthread_create(&t, 0, set, &l);
        pthread_join(t, 0);
        assert(l == 5);
    }
}
