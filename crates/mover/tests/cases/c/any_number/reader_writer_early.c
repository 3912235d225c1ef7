// expect: unsafe unreach-call
// A writer that does not look for readers.
// options: --property unreach-call
// engines: auto
#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int readers, writers, data;

void *reader(void *arg) {
    pthread_mutex_lock(&m);
    int enters = writers == 0;
    if (enters)
        readers++;
    pthread_mutex_unlock(&m);
    if (!enters)
        return 0;
    assert(data == 0);
    pthread_mutex_lock(&m);
    readers--;
    pthread_mutex_unlock(&m);
    return 0;
}

void *writer(void *arg) {
    pthread_mutex_lock(&m);
    writers++;
    pthread_mutex_unlock(&m);
    data = 1;
    data = 0;
    pthread_mutex_lock(&m);
    writers--;
    pthread_mutex_unlock(&m);
    return 0;
}

int main(void) {
    pthread_t t;
    while (1) {
        pthread_create(&t, 0, reader, 0);
        pthread_create(&t, 0, writer, 0);
    }
    return 0;
}
