// expect: safe
// Results of another width than the library's.
// engines: all
#include <assert.h>
typedef struct { long room[5]; } lock;
long pthread_mutex_lock(lock *);
char pthread_mutex_trylock(lock *);
void pthread_mutex_unlock(lock *);
static lock m;
int main(void) {
    assert(pthread_mutex_lock(&m) == 0);
    assert(pthread_mutex_trylock(&m) == 16);
    pthread_mutex_unlock(&m);
}
