/* A deque of tasks: the owner takes from the bottom, a thief from the top; both
 * want the last one. After Chase and Lev, with sequentially consistent atomics.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int tasks[4];
static atomic_int top, bottom;
static atomic_int done[2];

static void push(int task) {
    int b = atomic_load(&bottom);
    tasks[b] = task;
    atomic_store(&bottom, b + 1);
}

static int take(void) {
    int b = atomic_load(&bottom) - 1;
    atomic_store(&bottom, b);
    int t = atomic_load(&top);
    if (t > b) {
        atomic_store(&bottom, t);
        return -1;
    }
    int task = tasks[b];
    if (t == b) {
        if (!atomic_compare_exchange_strong(&top, &t, t + 1))
            task = -1;
        atomic_store(&bottom, b + 1);
    }
    return task;
}

static int steal(void) {
    int t = atomic_load(&top);
    int b = atomic_load(&bottom);
    if (t >= b)
        return -1;
    int task = tasks[t];
    if (!atomic_compare_exchange_strong(&top, &t, t + 1))
        return -1;
    return task;
}

static void run(int task) {
    if (task >= 0)
        assert(atomic_fetch_add(&done[task], 1) == 0);
}

static void *thief(void *arg) {
    (void)arg;
    run(steal());
    run(steal());
    return NULL;
}

int main(void) {
    pthread_t t;
    push(0);
    pthread_create(&t, NULL, thief, NULL);
    push(1);
    run(take());
    run(take());
    pthread_join(t, NULL);
    run(take());
    assert(done[0] == 1 && done[1] == 1);
    return 0;
}
