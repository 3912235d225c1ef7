/* plan: the loop of joins leaves the first thread out, so main's read is not protected */
#include <assert.h>
#include <pthread.h>

#define N 2

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int total;

void *add(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    total++;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        pthread_create(&threads[i], 0, add, 0);
    for (int i = 1; i < N; i++)
        pthread_join(threads[i], 0);
    assert(total <= N);
    return 0;
}
