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
    __VERIFIER_assume(which < 12);
    switch (which) {
    case 0: { /* malloc */
        char*p=malloc(4);
        p[0]=1;
        free(p);
        break;
    }
    case 1: { /* calloc */
        char*p=calloc(4,1);
        assert(p[3]==0);
        free(p);
        break;
    }
    case 2: { /* realloc */
        char*p=realloc(NULL,4);
        memset(p,1,4);
        p=realloc(p,8);
        assert(p[3]==1);
        free(p);
        break;
    }
    case 3: { /* reallocarray */
        char*p=reallocarray(NULL,4,2);
        free(p);
        break;
    }
    case 4: { /* aligned_alloc */
        char*p=aligned_alloc(64,64);
        assert(((unsigned long)p&63)==0);
        free(p);
        break;
    }
    case 5: { /* posix_memalign */
        void*p;
        assert(posix_memalign(&p,64,64)==0);
        free(p);
        break;
    }
    case 6: { /* memalign */
        void*p=memalign(64,64);
        free(p);
        break;
    }
    case 7: { /* valloc */
        void*p=valloc(64);
        free(p);
        break;
    }
    case 8: { /* alloca */
        char*p=alloca(4);
        p[3]=1;
        break;
    }
    case 9: { /* mmap */
        void*p=mmap(0,4096,PROT_READ|PROT_WRITE,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);
        if(p!=MAP_FAILED){ *(int*)p=1; munmap(p,4096);};
        break;
    }
    case 10: { /* abs */
        assert(abs(-3)==3&&labs(-3)==3&&llabs(-3)==3);
        break;
    }
    case 11: { /* div */
        assert(div(7,2).quot==3);
        break;
    }
    }
    return 0;
}
