// expect: safe
// What is not written costs nothing as long as nobody reads it, and no assumption is needed.
// without: uninitialised memory
// engines: explicit
// expect: unsafe unreach-call
// It can be anything.
// options: -DREAD
// engines: auto
// expect: unsafe unreach-call
// One byte of four is written, the others can be anything.
// options: -DONE_BYTE
// engines: auto
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct ring {
    int count;
    int slots[4];
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *producer(void *arg) {
    struct ring *r = arg;
    pthread_mutex_lock(&m);
    r->slots[r->count] = 7;
    r->count++;
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    struct ring *r = malloc(sizeof *r);
    r->count = 0;
#ifdef READ
    assert(r->slots[2] != 12345);
#endif
#ifdef ONE_BYTE
    ((char *)&r->slots[3])[1] = 1;
    assert(r->slots[3] != 0x0302017f);
#endif
    pthread_create(&a, NULL, producer, r);
    pthread_create(&b, NULL, producer, r);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (int i = 0; i < r->count; i++)
        assert(r->slots[i] == 7);
    free(r);
    return 0;
}
