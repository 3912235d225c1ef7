// A double free ends the run although only deadlocks were asked for; the walk by the definition had not counted it.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
static int x, y, z, array[2];
static atomic_int a, b;
static struct pair { int first, second; } pair;
static int *pointer = &x;
static struct node { int value; struct node *next; } *top;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static void *thread_0(void *arg) {
    int l = 0;
    { struct node *node = top; if (node) { top = 0; free(node); } }
    (void)l;
    return arg;
}
static void *thread_1(void *arg) {
    int l = 0;
    { struct node *node = malloc(sizeof *node); node->value = 1; node->next = 0; top = node; }
    (void)l;
    return arg;
}
static void *beside(void) {
    int l = 0;
    { struct node *node = top; if (node) { top = 0; free(node); } }
    (void)l;
    return NULL;
}
int main(void) {
    pthread_t t[2];
    sem_init(&s, 0, 1);
    pthread_create(&t[0], NULL, thread_0, NULL);
    pthread_create(&t[1], NULL, thread_1, NULL);
    beside();
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

