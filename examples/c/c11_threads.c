/* The threads of C11 instead of POSIX.
 * expect: safe
 */
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static int ready, initialised;

static void initialise(void) { initialised = 1; }

static int worker(void *arg) {
    call_once(&once, initialise);
    assert(initialised);
    mtx_lock(&lock);
    while (!ready)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    return *(int *)arg + 1;
}

int main(void) {
    thrd_t t;
    int argument = 41, result = 0;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    assert(thrd_create(&t, worker, &argument) == thrd_success);
    mtx_lock(&lock);
    ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    thrd_join(t, &result);
    assert(result == 42);
    return 0;
}
