/* plan: pointers that are loaded from different places are told apart, so the mutex of the list is a lock */
#include <pthread.h>
#include <stdlib.h>

struct node {
  struct node *next;
  int value;
};
struct list {
  pthread_mutex_t m;
  struct node *head;
  int length;
} *list;

void *push(void *arg) {
  (void)arg;
  struct node *node = malloc(sizeof *node);
  node->value = 1;
  pthread_mutex_lock(&list->m);
  node->next = list->head;
  list->head = node;
  list->length++;
  pthread_mutex_unlock(&list->m);
  return 0;
}

int main(void) {
  list = calloc(1, sizeof *list);
  pthread_t a, b;
  pthread_create(&a, 0, push, 0);
  pthread_create(&b, 0, push, 0);
  return 0;
}
