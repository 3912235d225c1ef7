// expect: unsafe unreach-call
// The pointer is copied into shared memory byte by byte.
// options: --property unreach-call
// engines: auto explicit/none,static,phase,dynamic
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
static struct node *place;
static atomic_int there;

void *maker(void *arg) {
  struct node *n = malloc(sizeof *n);
  n->x = 0;
  const unsigned char *from = (const unsigned char *)&n;
  unsigned char *to = (unsigned char *)&place;
  for (unsigned i = 0; i < sizeof n; i++)
    to[i] = from[i];
  there = 1;
  n->x = 1;
  n->x = 0;
  return 0;
}

void *reader(void *arg) {
  if (there)
    assert(place->x == 0);
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
