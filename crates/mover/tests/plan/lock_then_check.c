/* plan: the edges that find lock free and fail a check do not observe who holds it: acquiring lock moves right */
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int n;

void *work(void *arg) {
    long own = (long)arg;
    pthread_mutex_lock(&lock);
    assert(own < 2);
    n++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, work, (void *)1);
    work((void *)0);
    pthread_join(a, NULL);
    return 0;
}
