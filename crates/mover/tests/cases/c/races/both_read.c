// expect: unsafe no-data-race
// What a lock rules out costs nothing to prove; locks that do not exclude each other rule out nothing.
// options: --property no-data-race
// engines: explicit ic3
#include <pthread.h>

int x;
pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;

void *one(void *arg) {
    int l = 0;
    pthread_rwlock_rdlock(&r);
    x++;
    pthread_rwlock_unlock(&r);
    return (void *)(long)l;
}

void *two(void *arg) {
    int l = 0;
    pthread_rwlock_rdlock(&r);
    x++;
    pthread_rwlock_unlock(&r);
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
