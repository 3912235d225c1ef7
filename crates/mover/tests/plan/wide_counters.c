/* plan: counters as wide as pointers are not pointers, so the lock in the heap object protects its field */
#include <pthread.h>
#include <stdlib.h>

#define N 3

struct account {
    pthread_mutex_t lock;
    int balance;
} *account;

void *deposit(void *amount) {
    for (long i = 2; i > 0; i--) {
        pthread_mutex_lock(&account->lock);
        account->balance += (int)(long)amount;
        pthread_mutex_unlock(&account->lock);
    }
    return 0;
}

int main(void) {
    pthread_t threads[N];
    account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, 0);
    for (size_t i = 0; i < N; ++i)
        pthread_create(&threads[i], 0, deposit, (void *)(i + 1));
    for (size_t i = 0; i != N; ++i)
        pthread_join(threads[i], 0);
    return 0;
}
