// expect: unsafe memory-safety
// A compound literal lives as long as its block, also in a thread's function.
#include <pthread.h>
#include <stddef.h>

struct job { int number; };

static struct job *volatile last;

static void *run(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        last = &(struct job){i};
    }
    return (void *)(size_t)last->number;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
}
