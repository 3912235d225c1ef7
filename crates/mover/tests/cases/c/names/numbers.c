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
    __VERIFIER_assume(which < 17);
    switch (which) {
    case 0: { /* atoi */
        assert(atoi("12")==12);
        break;
    }
    case 1: { /* atol */
        assert(atol("12")==12);
        break;
    }
    case 2: { /* atoll */
        assert(atoll("12")==12);
        break;
    }
    case 3: { /* atof */
        assert(atof("1.5")==1.5);
        break;
    }
    case 4: { /* strtol */
        char*e;
        assert(strtol("12z",&e,10)==12&&*e=='z');
        break;
    }
    case 5: { /* strtoul */
        assert(strtoul("12",0,0)==12);
        break;
    }
    case 6: { /* strtoll */
        assert(strtoll("12",0,0)==12);
        break;
    }
    case 7: { /* strtoull */
        assert(strtoull("12",0,0)==12);
        break;
    }
    case 8: { /* strtod */
        assert(strtod("2.5",0)==2.5);
        break;
    }
    case 9: { /* strerror */
        assert(strlen(strerror(EINVAL))>0);
        break;
    }
    }
    return 0;
}
