// expect: safe
// expect: unsafe unreach-call
// options: -DPLAIN
// The functions of <stdatomic.h> on variables that are not declared atomic, as gcc takes them.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int counter;
int *last;
_Atomic int total;

void *work(void *own) {
#ifdef PLAIN
    counter++;
#else
    atomic_fetch_add(&counter, 1);
#endif
    int *seen = atomic_load_explicit(&last, memory_order_seq_cst);
    while (!atomic_compare_exchange_weak(&last, &seen, own)) {
    }
    atomic_store(&total, atomic_load(&counter));
    return 0;
}

int main(void) {
    static int marks[2];
    atomic_init(&last, marks);
    atomic_init(&total, 0);
    pthread_t t;
    pthread_create(&t, 0, work, &marks[0]);
    work(&marks[1]);
    pthread_join(t, 0);
    assert(counter == 2);
    assert(last == &marks[0] || last == &marks[1]);
    assert(total == 1 || total == 2);
    return 0;
}
