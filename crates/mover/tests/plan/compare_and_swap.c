/* plan: owner is only swapped from 0; dynamically looking at it moves where it is not 0 */
#include <pthread.h>
#include <stdatomic.h>
atomic_int owner;
void *worker(void *arg) {
  int expected = 0;
  atomic_compare_exchange_strong(&owner, &expected, 1);
  return 0;
}
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, worker, 0);
  worker(0);
  return 0;
}
