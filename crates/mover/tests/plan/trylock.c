/* plan: a failing trylock observes m, so taking and releasing it do not move; n is protected by m all the same */
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int n;

void *work(void *arg) {
  pthread_mutex_lock(&m);
  n++;
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  if (pthread_mutex_trylock(&m) == 0) {
    n++;
    pthread_mutex_unlock(&m);
  }
  pthread_join(t, 0);
  return 0;
}
