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
    __VERIFIER_assume(which < 9);
    switch (which) {
    case 0: { /* robust */
        pthread_mutexattr_t a;
        pthread_mutex_t m;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_setrobust(&a,PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&m,&a);
        pthread_mutex_lock(&m);
        pthread_mutex_consistent(&m);
        pthread_mutex_unlock(&m);
        break;
    }
    case 1: { /* attr_init */
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setdetachstate(&a,PTHREAD_CREATE_DETACHED);
        int s;
        pthread_attr_getdetachstate(&a,&s);
        assert(s==PTHREAD_CREATE_DETACHED);
        pthread_attr_destroy(&a);
        break;
    }
    case 2: { /* attr_stack */
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setstacksize(&a,65536);
        size_t s;
        pthread_attr_getstacksize(&a,&s);
        assert(s==65536);
        break;
    }
    case 3: { /* attr_setstack */
        static char st[65536];
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setstack(&a,st,65536);
        break;
    }
    case 4: { /* attr_guard */
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setguardsize(&a,4096);
        size_t s;
        pthread_attr_getguardsize(&a,&s);
        assert(s==4096);
        break;
    }
    case 5: { /* attr_sched */
        pthread_attr_t a;
        struct sched_param p={0};
        pthread_attr_init(&a);
        pthread_attr_setschedpolicy(&a,SCHED_OTHER);
        pthread_attr_setschedparam(&a,&p);
        pthread_attr_setinheritsched(&a,PTHREAD_INHERIT_SCHED);
        pthread_attr_setscope(&a,PTHREAD_SCOPE_SYSTEM);
        int x;
        pthread_attr_getschedpolicy(&a,&x);
        pthread_attr_getschedparam(&a,&p);
        pthread_attr_getinheritsched(&a,&x);
        pthread_attr_getscope(&a,&x);
        break;
    }
    case 6: { /* attr_affinity */
        pthread_attr_t a;
        cpu_set_t c;
        CPU_ZERO(&c);
        CPU_SET(0,&c);
        pthread_attr_init(&a);
        pthread_attr_setaffinity_np(&a,sizeof c,&c);
        break;
    }
    case 7: { /* pthread_kill0 */
        pthread_kill(pthread_self(),0);
        break;
    }
    case 8: { /* pthread_atfork */
        pthread_atfork(0,0,0);
        break;
    }
    }
    return 0;
}
