/* plan: the step that takes m also chooses v, and is a right mover all the same; top and slots are protected by m */
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
unsigned top, slots[2];

void *push(void *arg) {
  pthread_mutex_lock(&m);
  unsigned v = __VERIFIER_nondet_bool();
  __VERIFIER_assume(v < 5);
  if (top < 2) {
    slots[top] = v;
    top++;
  }
  pthread_mutex_unlock(&m);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, push, 0);
  push(0);
  pthread_join(t, 0);
  return 0;
}
