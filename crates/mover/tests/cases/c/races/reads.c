// expect: safe
// No data race: the accesses are ordered, atomic, or do not conflict.
// options: --property no-data-race
// engines: explicit/none,dynamic token/all,mat,lex
#include <pthread.h>

int x;

void *one(void *arg) {
    int l = 0;
    l = x;
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
