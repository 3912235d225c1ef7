/* A lock-free hash table with open addressing: keys are claimed by
 * compare-and-swap, values added atomically.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 4

static struct {
    atomic_uint key;
    atomic_int value;
} table[SLOTS];

static void add(unsigned key, int value) {
    for (unsigned i = key % SLOTS;; i = (i + 1) % SLOTS) {
        unsigned found = 0;
        if (atomic_compare_exchange_strong(&table[i].key, &found, key) || found == key) {
            atomic_fetch_add(&table[i].value, value);
            return;
        }
    }
}

static int lookup(unsigned key) {
    for (unsigned i = key % SLOTS;; i = (i + 1) % SLOTS) {
        unsigned found = atomic_load(&table[i].key);
        if (found == key)
            return atomic_load(&table[i].value);
        if (found == 0)
            return 0;
    }
}

static void *first(void *arg) {
    (void)arg;
    add(1, 10);
    add(5, 1);
    return NULL;
}

static void *second(void *arg) {
    (void)arg;
    add(5, 2);
    add(1, 20);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(lookup(1) == 30 && lookup(5) == 3 && lookup(2) == 0);
    return 0;
}
