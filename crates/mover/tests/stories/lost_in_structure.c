/* Two threads add to a field that main has set before it started them. */
#include <assert.h>
#include <pthread.h>

struct counts { int runs, total; };

static void *count(void *arg) {
    struct counts *counts = arg;
    counts->total = counts->total + 1;
    return NULL;
}

int main(void) {
    struct counts counts;
    pthread_t a, b;
    counts.total = 0;
    pthread_create(&a, NULL, count, &counts);
    pthread_create(&b, NULL, count, &counts);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counts.total == 2);
    return 0;
}
