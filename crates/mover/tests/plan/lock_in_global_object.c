/* plan: every thread loads the settled pointer `shared` anew, and still the lock at byte 0 of its object protects byte 40; byte 44 is read without the lock: not protected */
#include <pthread.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t m;
  int balance;
  int last;
};

struct account *shared;
int seen;

void *pay(void *arg) {
  pthread_mutex_lock(&shared->m);
  shared->balance++;
  shared->last = shared->balance;
  pthread_mutex_unlock(&shared->m);
  return 0;
}

int main(void) {
  shared = malloc(sizeof *shared);
  pthread_mutex_init(&shared->m, 0);
  shared->balance = 0;
  shared->last = 0;
  pthread_t a, b;
  pthread_create(&a, 0, pay, 0);
  pthread_create(&b, 0, pay, 0);
  seen = shared->last;
  pthread_join(a, 0);
  pthread_join(b, 0);
  return shared->balance;
}
