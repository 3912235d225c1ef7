/* Lazy initialisation (Günther et al. 2017, Figure 4): the first thread that needs the data reads them and
 * publishes them with compare-and-swap; a thread that comes late frees its copy. Then each thread
 * processes its part. The figure has two threads and 512 elements each; -DPART=4 makes parts smaller.
 * Here element i of the data is i, and processing an element checks that. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef N
#define N 2
#endif
#ifndef PART
#define PART 512
#endif

int *_Atomic data = NULL;

static int *read_from_disk(int count) {
    int *block = malloc(count * sizeof *block);
    for (int i = 0; i < count; i++)
        block[i] = i;
    return block;
}

static void process(int element, int place) {
    assert(element == place);
}

void *worker_thread(void *arg) {
    int tid = (int)(long)arg;
    if (data == NULL) {
        int *tmp = read_from_disk(N * PART);
        int *expected = NULL;
        if (!atomic_compare_exchange_strong(&data, &expected, tmp))
            free(tmp);
    }
    for (int i = 0; i < PART; i++)
        process(data[i + tid * PART], i + tid * PART);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], 0, worker_thread, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], 0);
    return 0;
}
