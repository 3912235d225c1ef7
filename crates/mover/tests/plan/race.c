/* plan: counter is read and written without a lock: neither access moves statically */
#include <pthread.h>
int counter;
void *worker(void *arg) {
  counter++;
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  counter++;
  return 0;
}
