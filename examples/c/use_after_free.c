/* A list node that another thread may free while it is looked at.
 * expect: unsafe memory-safety
 */
#include <pthread.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *remover(void *arg) {
    pthread_mutex_lock(&lock);
    struct node *first = head;
    head = first->next;
    pthread_mutex_unlock(&lock);
    free(first);
    return arg;
}

int main(void) {
    pthread_t t;
    struct node *b = malloc(sizeof *b), *a = malloc(sizeof *a);
    b->value = 2;
    b->next = NULL;
    a->value = 1;
    a->next = b;
    head = a;
    pthread_create(&t, NULL, remover, NULL);
    pthread_mutex_lock(&lock);
    struct node *first = head;
    pthread_mutex_unlock(&lock);
    int seen = first->value; /* no longer under the lock */
    pthread_join(t, NULL);
    return seen - seen;
}
