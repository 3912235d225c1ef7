// expect: unsafe memory-safety
// A lock that is gone cannot be destroyed.
// options: --property memory-safety
#include <pthread.h>
#include <stdlib.h>

int main(void) {
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, 0);
    free(lock);
    pthread_mutex_destroy(lock);
    return 0;
}
