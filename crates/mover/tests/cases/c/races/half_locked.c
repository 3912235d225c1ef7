// expect: unsafe no-data-race
// A data race.
// options: --property no-data-race
// engines: explicit/none,dynamic token/all,mat,lex
// message: data race on x
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

void *one(void *arg) {
    int l = 0;
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return (void *)(long)l;
}

void *two(void *arg) {
    int l = 0;
    l = x;
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
