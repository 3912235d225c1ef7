/* Operations chosen through a table of function pointers.
 * The choice is atomic: the worker reads it while main changes it.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

typedef int operation(int, int);

static int add(int a, int b) { return a + b; }
static int multiply(int a, int b) { return a * b; }
static int subtract(int a, int b) { return a - b; }

static operation *const table[] = {add, multiply, subtract};
static operation *_Atomic chosen;
static int result;

static void *worker(void *arg) {
    operation *f = chosen;
    if (f)
        result = f(6, 3);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        chosen = table[i];
    pthread_join(t, NULL);
    assert(result == 0 || result == 9 || result == 18 || result == 3);
    return 0;
}
