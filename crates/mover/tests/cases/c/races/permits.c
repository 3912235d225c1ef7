// expect: safe
// No data race: the accesses are ordered, atomic, or do not conflict.
// options: --property no-data-race
// engines: explicit/none,dynamic
#include <pthread.h>
#include <semaphore.h>

sem_t q;

void *one(void *arg) {
    int l = 0;
    sem_post(&q);
    return (void *)(long)l;
}

void *two(void *arg) {
    int l = 0;
    sem_getvalue(&q, &l);
    return (void *)(long)l;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
