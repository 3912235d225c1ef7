// expect: safe
// What the names in comments promise, each in a run of its own.
#define _GNU_SOURCE
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <execinfo.h>
#include <arpa/inet.h>
#include <threads.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
int main(void) {
    unsigned which = __VERIFIER_nondet_uint();
    __VERIFIER_assume(which < 6);
    switch (which) {
    case 0: { /* time */
        time_t t=time(NULL),u=time(NULL);
        assert(u>=t);
        break;
    }
    case 1: { /* clock */
        clock_t t=clock(),u=clock();
        assert(u>=t);
        break;
    }
    case 2: { /* gettimeofday */
        struct timeval a,b;
        gettimeofday(&a,0);
        gettimeofday(&b,0);
        assert(b.tv_sec>=a.tv_sec);
        break;
    }
    case 3: { /* clock_gettime */
        struct timespec a,b;
        clock_gettime(CLOCK_MONOTONIC,&a);
        clock_gettime(CLOCK_MONOTONIC,&b);
        assert(b.tv_sec>=a.tv_sec);
        break;
    }
    case 4: { /* clock_getres */
        struct timespec a;
        clock_getres(CLOCK_MONOTONIC,&a);
        break;
    }
    case 5: { /* difftime */
        assert(difftime(3,1)==2.0);
        break;
    }
    }
    return 0;
}
