// A hash table with chains and a mutex for each bucket. Each thread inserts two keys and finds its
// own again; a key is inserted once.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif

#define BUCKETS 2

struct entry {
    int key;
    int value;
    struct entry *next;
};

struct bucket {
    pthread_mutex_t mutex;
    struct entry *chain;
};

static struct bucket table[BUCKETS] = {
    {PTHREAD_MUTEX_INITIALIZER, NULL},
    {PTHREAD_MUTEX_INITIALIZER, NULL},
};

static int insert(int key, int value) {
    struct bucket *bucket = &table[key % BUCKETS];
    int inserted = 1;
    pthread_mutex_lock(&bucket->mutex);
    for (struct entry *entry = bucket->chain; entry != NULL; entry = entry->next)
        if (entry->key == key)
            inserted = 0;
    if (inserted) {
        struct entry *entry = malloc(sizeof *entry);
        entry->key = key;
        entry->value = value;
        entry->next = bucket->chain;
        bucket->chain = entry;
    }
    pthread_mutex_unlock(&bucket->mutex);
    return inserted;
}

static int find(int key) {
    struct bucket *bucket = &table[key % BUCKETS];
    int value = -1;
    pthread_mutex_lock(&bucket->mutex);
    for (struct entry *entry = bucket->chain; entry != NULL; entry = entry->next)
        if (entry->key == key)
            value = entry->value;
    pthread_mutex_unlock(&bucket->mutex);
    return value;
}

static void *work(void *argument) {
    int own = (int)(long)argument;
    insert(own, 10 + own);
    insert((own + 1) % THREADS, 10 + (own + 1) % THREADS);
    assert(find(own) == 10 + own);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int count = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (struct entry *entry = table[i].chain; entry != NULL; entry = entry->next)
            count++;
    assert(count == THREADS);
    return 0;
}
