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
    case 0: { /* poll */
        struct pollfd p={0,POLLIN,0};
        int r=poll(&p,1,10);
        assert(r<=1);
        break;
    }
    case 1: { /* select */
        fd_set f;
        FD_ZERO(&f);
        FD_SET(0,&f);
        int r=select(1,&f,0,0,0);
        assert(r<=1);
        break;
    }
    case 2: { /* ppoll */
        struct pollfd p={0,POLLIN,0};
        int r=ppoll(&p,1,0,0);
        assert(r<=1);
        break;
    }
    case 3: { /* read */
        char b[4];
        ssize_t n=read(0,b,4);
        assert(n<=4);
        break;
    }
    case 4: { /* write */
        char b[4]={0};
        ssize_t n=write(1,b,4);
        assert(n<=4);
        break;
    }
    case 5: { /* open */
        int f=open("x",O_RDONLY);
        if(f>=0) close(f);
        break;
    }
    }
    return 0;
}
