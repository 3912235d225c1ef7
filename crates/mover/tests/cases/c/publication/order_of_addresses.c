// expect: unsafe unreach-call
// Which address is lower shows which thread allocated first.
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
static struct node *_Atomic one, *_Atomic two;

void *maker(void *arg) {
  one = malloc(sizeof(struct node));
  return 0;
}

void *reader(void *arg) {
  two = malloc(sizeof(struct node));
  struct node *a = one, *b = two;
  if (a)
    assert((uintptr_t)a < (uintptr_t)b);
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
