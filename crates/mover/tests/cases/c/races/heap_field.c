// expect: unsafe no-data-race
// The part of a heap object is named, and both threads with their lines.
// options: --property no-data-race
// engines: explicit/none,static,phase,dynamic bmc
// message: data race on box#1.value: 
// message: two[2] writes at
#include <pthread.h>
#include <stdlib.h>

struct box {
    int other;
    int value;
};

void *one(void *arg) {
    struct box *mine = arg;
    return (void *)(long)mine->value;
}

void *two(void *arg) {
    struct box *mine = arg;
    mine->value = 1;
    return 0;
}

int main(void) {
    pthread_t s, t;
    struct box *box = malloc(sizeof *box);
    box->value = 0;
    pthread_create(&s, 0, one, box);
    pthread_create(&t, 0, two, box);
    pthread_join(s, 0);
    pthread_join(t, 0);
    free(box);
    return 0;
}
