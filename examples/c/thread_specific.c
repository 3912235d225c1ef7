/* Data of a thread's own: keys and thread-local variables.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

static pthread_key_t key;
static _Thread_local int own = 1;

static void *worker(void *arg) {
    assert(pthread_getspecific(key) == NULL);
    pthread_setspecific(key, arg);
    own += (int)(long)arg;
    int *p = &own;
    assert(*p == 1 + (int)(long)arg);
    assert(pthread_getspecific(key) == arg);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_key_create(&key, NULL);
    pthread_create(&a, NULL, worker, (void *)5);
    pthread_create(&b, NULL, worker, (void *)6);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(own == 1);
    return 0;
}
