/* Buffers that belong to threads and are freed when these end.
 * expect: safe
 * options: --property unreach-call --property no-deadlock --property memory-safety --property memory-cleanup
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t buffer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int freed;

static void release(void *data) {
    assert(pthread_getspecific(buffer) == NULL);
    free(data);
    pthread_mutex_lock(&lock);
    freed++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg) {
    int *own = malloc(sizeof *own);
    *own = *(int *)arg;
    pthread_setspecific(buffer, own);
    int *found = pthread_getspecific(buffer);
    assert(*found == *(int *)arg);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int one = 1, two = 2;
    pthread_key_create(&buffer, release);
    pthread_create(&a, NULL, work, &one);
    pthread_create(&b, NULL, work, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(freed == 2);
    pthread_key_delete(buffer);
    return 0;
}
