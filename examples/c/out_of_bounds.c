/* An index that is checked and used in two steps.
 * expect: unsafe memory-safety
 */
#include <pthread.h>

#define SIZE 2

static int items[SIZE];
static volatile int used;

static void *adder(void *arg) {
    if (used < SIZE) {
        items[used] = 1;
        used++;
    }
    return arg;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, adder, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
