// expect: safe
// Each thread has a buffer of its own: nobody else knows its address, so filling, reading and
// freeing it are movers, and so are the allocations, whose order nobody can tell.
// engines: explicit/none,phase,dynamic
// reduces: 20
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int done;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *sum(void *arg) {
  int *p = malloc(3 * sizeof *p), s = 0;
  for (int i = 0; i < 3; i++)
    p[i] = i;
  for (int i = 0; i < 3; i++)
    s += p[i];
  assert(s == 3);
  free(p);
  pthread_mutex_lock(&m);
  done++;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, sum, 0);
  pthread_create(&b, 0, sum, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(done == 2);
  return 0;
}
