// expect: unsafe unreach-call
// The object of the first round is published in the second one.
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
  struct node *before = 0;
  for (int i = 0; i < 2; i++) {
    struct node *n = malloc(sizeof *n);
    n->x = 0;
    if (before) {
      shared = before;
      before->x = 1;
      before->x = 0;
    }
    before = n;
  }
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
