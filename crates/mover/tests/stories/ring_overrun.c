/* A ring buffer whose producer does not look whether there is room. */
#include <assert.h>
#include <pthread.h>

enum { SIZE = 2, MANY = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ring[SIZE];
static int written, taken;

static void *produce(void *arg) {
    for (int i = 1; i <= MANY; i++) {
        pthread_mutex_lock(&lock);
        ring[written % SIZE] = i;
        written++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, produce, NULL);
    for (int i = 1; i <= MANY; i++) {
        pthread_mutex_lock(&lock);
        if (taken < written) {
            assert(ring[taken % SIZE] == taken + 1);
            taken++;
        }
        pthread_mutex_unlock(&lock);
    }
    pthread_join(t, NULL);
    return 0;
}
