// expect: safe
// Adjacent bytes are different memory, also if they are reached by a pointer.
// options: --property no-data-race
// engines: explicit/none,static,phase,dynamic bmc ic3
#include <pthread.h>

char bytes[2];

void *one(void *arg) {
    char *mine = arg;
    *mine = 1;
    return 0;
}

int main(void) {
    pthread_t s, t;
    pthread_create(&s, 0, one, &bytes[0]);
    pthread_create(&t, 0, one, &bytes[1]);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
