/* A buffer is filled for a long time before the threads meet. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char buffer[24];
static int table[12];
static volatile int hits;

static void *worker(void *arg) {
    hits++;
    return arg;
}

int main(void) {
    pthread_t t;
    memset(buffer, 1, sizeof buffer);
    for (int i = 0; i < 12; i++) {
        table[i] = i;
        buffer[i] = (char)table[i];
    }
    pthread_create(&t, NULL, worker, NULL);
    hits++;
    pthread_join(t, NULL);
    assert(hits == 2 && buffer[5] == 5 && table[3] == 3);
    return 0;
}
