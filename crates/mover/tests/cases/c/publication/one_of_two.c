// expect: unsafe unreach-call
// Which of two objects is changed is decided later; one of them is published.
// options: --property unreach-call
// engines: auto explicit/none,static,phase,dynamic bmc/none,static,dynamic
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next;
  int x;
};
static struct node *_Atomic shared;
extern _Bool __VERIFIER_nondet_bool(void);

void *maker(void *arg) {
  struct node *n = malloc(sizeof *n), *other = malloc(sizeof *other);
  n->x = 0;
  other->x = 0;
  struct node *chosen = __VERIFIER_nondet_bool() ? n : other;
  shared = n;
  chosen->x = 1;
  chosen->x = 0;
  return 0;
}

void *reader(void *arg) {
  struct node *n = shared;
  if (n)
    assert(n->x == 0);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, maker, 0);
  pthread_create(&b, 0, reader, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
