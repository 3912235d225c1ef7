/* Lazy initialisation with compare-and-swap: whoever comes second throws its own
 * copy away.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) table;

static int *get(void) {
    int *found = atomic_load(&table);
    if (!found) {
        int *fresh = calloc(2, sizeof *fresh);
        fresh[1] = 42;
        if (atomic_compare_exchange_strong(&table, &found, fresh))
            found = fresh;
        else
            free(fresh);
    }
    return found;
}

static void *user(void *arg) {
    (void)arg;
    assert(get()[1] == 42);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(atomic_load(&table));
    return 0;
}
