// expect: safe
// Calls of the library say why they fail.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

sem_t s;

int main(void) {
    sem_init(&s, 0, 1);
    errno = 0;
    assert(sem_trywait(&s) == 0 && errno == 0);
    assert(sem_trywait(&s) == -1 && errno == EAGAIN);
}
