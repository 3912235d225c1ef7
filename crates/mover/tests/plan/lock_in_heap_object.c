/* plan: the lock at byte 0 of q protects the field at byte 40; after the join main is alone again and moves */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct q {
  pthread_mutex_t m;
  int n;
};

void *add(void *arg) {
  struct q *q = arg;
  pthread_mutex_lock(&q->m);
  q->n++;
  pthread_mutex_unlock(&q->m);
  return 0;
}

int main(void) {
  struct q *q = malloc(sizeof *q);
  pthread_mutex_init(&q->m, 0);
  q->n = 0;
  pthread_t a, b;
  pthread_create(&a, 0, add, q);
  pthread_create(&b, 0, add, q);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(q->n == 2);
  free(q);
  return 0;
}
