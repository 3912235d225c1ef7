/* Two counters in one word, of which an update is lost. The word is no address. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static volatile uint64_t both = (uint64_t)1 << 32 | 1;

static void *add(void *arg) {
    uint64_t old = both;
    both = old + 1;
    return arg;
}

int main(void) {
    pthread_t t[2];
    pthread_create(t + 0, NULL, add, NULL);
    pthread_create(t + 1, NULL, add, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    assert((uint32_t)both == 3);
    return 0;
}
