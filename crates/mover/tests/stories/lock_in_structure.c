/* Two accounts, each with its mutex, locked in the order of the transfer. */
#include <pthread.h>

struct account {
    int balance;
    pthread_mutex_t lock;
};

static struct account accounts[2] = {
    {10, PTHREAD_MUTEX_INITIALIZER},
    {10, PTHREAD_MUTEX_INITIALIZER},
};

static void transfer(int from, int to) {
    pthread_mutex_lock(&accounts[from].lock);
    pthread_mutex_lock(&accounts[to].lock);
    accounts[from].balance--;
    accounts[to].balance++;
    pthread_mutex_unlock(&accounts[to].lock);
    pthread_mutex_unlock(&accounts[from].lock);
}

static void *there(void *arg) {
    transfer(0, 1);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, there, NULL);
    transfer(1, 0);
    pthread_join(t, NULL);
    return 0;
}
