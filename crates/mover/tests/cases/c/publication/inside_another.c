// expect: unsafe unreach-call
// Published as a part of another object.
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

void *maker(void *arg) {
  struct node *n = malloc(sizeof *n), *outer = malloc(sizeof *outer);
  n->x = 0;
  outer->x = 0;
  outer->next = n;
  shared = outer;
  n->x = 1;
  n->x = 0;
  return 0;
}

void *reader(void *arg) {
  struct node *n = shared;
  if (n)
    assert(n->next->x == 0);
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
