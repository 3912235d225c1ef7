// expect: safe
// The usual wrappers of atomic instructions.
// engines: auto explicit/none
#include <assert.h>
#include <pthread.h>
static int counter, word = 5;
static long wide = 10;

static unsigned char cas(int *p, int old, int new) {
    unsigned char done;
    __asm__ __volatile__(" lock\n cmpxchgl %2,%1\n sete %0\n"
                         : "=q"(done), "=m"(*p)
                         : "r"(new), "m"(*p), "a"(old)
                         : "memory");
    return done;
}
static int cas_value(int *p, int old, int new) {
    int before;
    __asm__ __volatile__("lock; cmpxchgl %2, %1" : "=a"(before), "+m"(*p) : "r"(new), "0"(old) : "memory");
    return before;
}
static int swap(int *p, int new) {
    __asm__ __volatile__("xchgl %0, %1" : "+r"(new), "+m"(*p) : : "memory");
    return new;
}
static long add(long *p, long by) {
    __asm__ __volatile__("lock; xaddq %0, %1" : "+r"(by), "+m"(*p) : : "memory");
    return by;
}
static void increment(int *p) {
    __asm__ __volatile__("lock; incl %0" : "+m"(*p));
}
static int decrement_and_test(int *p) {
    unsigned char is_zero;
    __asm__ __volatile__("lock; decl %0; sete %1" : "+m"(*p), "=qm"(is_zero) : : "memory");
    return is_zero;
}
static void *worker(void *arg) {
    increment(&counter);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    increment(&counter);
    pthread_join(t, 0);
    assert(counter == 2);
    assert(!cas(&word, 4, 6) && word == 5);
    assert(cas(&word, 5, 6) && word == 6);
    assert(cas_value(&word, 6, 7) == 6 && cas_value(&word, 6, 8) == 7 && word == 7);
    assert(swap(&word, 9) == 7 && word == 9);
    assert(add(&wide, -3) == 10 && wide == 7);
    counter = 1;
    assert(decrement_and_test(&counter) && counter == 0);
    return 0;
}
