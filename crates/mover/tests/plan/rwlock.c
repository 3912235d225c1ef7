/* plan: value is protected by the lock, held to read or to write; seen is not protected, so `seen = value` does not move */
#include <pthread.h>
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int value, seen;
void *reader(void *arg) {
  pthread_rwlock_rdlock(&lock);
  seen = value;
  pthread_rwlock_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, reader, 0);
  pthread_rwlock_wrlock(&lock);
  value = 1;
  pthread_rwlock_unlock(&lock);
  return 0;
}
