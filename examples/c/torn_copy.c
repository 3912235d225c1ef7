/* A structure that is copied while another thread changes it: one field old, one new.
 * expect: unsafe unreach-call
 */
#include <assert.h>
#include <pthread.h>

struct range {
    int low, high;
};

static struct range shared = {0, 0};

static void *move(void *arg) {
    shared.low = 1;
    shared.high = 1;
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, move, NULL);
    struct range copy = shared; /* not atomic */
    assert(copy.low >= copy.high);
    pthread_join(t, NULL);
    return 0;
}
