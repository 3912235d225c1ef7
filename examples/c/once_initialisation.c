/* pthread_once: the routine runs once, and nobody goes on before it is done.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls, value;

static void initialise(void) {
    calls++;
    value = 9;
}

static void *user(void *arg) {
    pthread_once(&once, initialise);
    assert(value == 9 && calls == 1);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_once(&once, initialise);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(calls == 1);
    return 0;
}
