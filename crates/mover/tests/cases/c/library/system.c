// expect: safe
// Calls of the system that succeed or fail; threads have different numbers.
// expect: unsafe unreach-call
// They may fail.
// options: -DHOPES
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int first, second;
static void *f(void *p) {
    second = gettid();
    return p;
}
int main(void) {
    pthread_t t;
    first = (int)syscall(SYS_gettid);
    assert(first > 0 && first == gettid());
    pthread_create(&t, 0, f, 0);
    pthread_join(t, 0);
    assert(first != second);
    int *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(page[7] == 0);
    munmap(page, 4096);
    sigset_t set;
    sigfillset(&set);
    sigdelset(&set, SIGINT);
    assert(sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGINT) == 0);
    int file = open("x", O_RDONLY);
#ifdef HOPES
    assert(file >= 0);
#else
    assert(file == -1 || file > 2);
#endif
    if (file >= 0)
        close(file);
}
