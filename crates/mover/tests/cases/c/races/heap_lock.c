// expect: safe
// The lock is part of the object that it protects.
// options: --property no-data-race
// engines: explicit/none,static,phase,dynamic
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

void *pay(void *arg) {
    struct account *account = arg;
    pthread_mutex_lock(&account->lock);
    account->balance++;
    pthread_mutex_unlock(&account->lock);
    return 0;
}

int main(void) {
    pthread_t s, t;
    struct account *account = malloc(sizeof *account);
    pthread_mutex_init(&account->lock, 0);
    account->balance = 0;
    pthread_create(&s, 0, pay, account);
    pthread_create(&t, 0, pay, account);
    pthread_join(s, 0);
    pthread_join(t, 0);
    free(account);
    return 0;
}
