// expect: unsafe unreach-call
// A new thread gets the object.
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
static int unused;

void *reader(void *arg) {
  struct node *n = arg;
  assert(n->x == 0);
  return 0;
}

void *maker(void *arg) {
  pthread_t t;
  struct node *n = malloc(sizeof *n);
  n->x = 0;
  pthread_create(&t, 0, reader, n);
  n->x = 1;
  n->x = 0;
  pthread_join(t, 0);
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, maker, 0);
  pthread_join(a, 0);
  return 0;
}
