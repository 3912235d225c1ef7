/* Sums that are collected by a function with variable arguments.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static int calls;

static void record(int count, ...) {
    va_list list, again;
    va_start(list, count);
    va_copy(again, list);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, int);
    sum += va_arg(list, long);
    sum -= va_arg(again, int);
    calls++;
    pthread_mutex_unlock(&lock);
    va_end(again);
    va_end(list);
}

static void *work(void *arg) {
    record(2, 3, -4, 10L);
    printf("done %p\n", arg);
    return NULL;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    record(0, 5L);
    pthread_join(a, NULL);
    assert(calls == 2);
    assert(sum == (3 - 4 + 10 - 3) + (5 - 5));
    return 0;
}
