/* Threads that start threads: each adds its part and passes the result on.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

static void *third(void *arg) { return (void *)((long)arg + 100); }

static void *second(void *arg) {
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, third, (void *)((long)arg + 10));
    pthread_join(t, &result);
    return result;
}

int main(void) {
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, second, (void *)1);
    pthread_join(t, &result);
    assert((long)result == 111);
    return 0;
}
