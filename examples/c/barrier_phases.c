/* Two phases with a barrier between: everybody sees the first phase complete.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

#define N 2

static pthread_barrier_t barrier;
static int done[N];
static int serial;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    int me = (int)(long)arg;
    done[me] = 1;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_mutex_lock(&lock);
        serial++;
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < N; i++)
        assert(done[i]);
    pthread_barrier_wait(&barrier);
    assert(serial == 1);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    pthread_barrier_init(&barrier, NULL, N);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    return 0;
}
