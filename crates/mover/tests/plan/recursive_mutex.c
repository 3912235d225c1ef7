/* plan: x, y and the count are protected by the recursive mutex m, between the inner calls, too; the cases of locking that cannot occur are gone */
#define _GNU_SOURCE
#include <pthread.h>

pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
int x, y;

static void bump(void) {
  pthread_mutex_lock(&m);
  x++;
  pthread_mutex_unlock(&m);
}

void *worker(void *arg) {
  (void)arg;
  pthread_mutex_lock(&m);
  bump();
  y++;
  bump();
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  return 0;
}
