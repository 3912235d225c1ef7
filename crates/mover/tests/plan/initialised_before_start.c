/* plan: limit is written before the first thread starts and read afterwards: reading it moves both ways */
#include <pthread.h>
int limit, result;
void *worker(void *arg) {
  result = limit;
  return 0;
}
int main(void) {
  pthread_t a, b;
  limit = 7;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  return 0;
}
