/* An atomic section in the style of the verification competition.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

static int a, b;

static void __VERIFIER_atomic_move(void) {
    a--;
    b++;
}

static void *worker(void *arg) {
    __VERIFIER_atomic_move();
    __VERIFIER_atomic_begin();
    a++;
    b--;
    __VERIFIER_atomic_end();
    return arg;
}

int main(void) {
    pthread_t t;
    a = 1;
    pthread_create(&t, NULL, worker, NULL);
    __VERIFIER_atomic_begin();
    assert(a + b == 1);
    __VERIFIER_atomic_end();
    pthread_join(t, NULL);
    assert(a == 1 && b == 0);
    return 0;
}
