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
static void nop(void) {}
static void nop2(int s, void *p) {}
static void handler(int s) {}
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
int main(void) {
    unsigned which = __VERIFIER_nondet_uint();
    __VERIFIER_assume(which < 26);
    switch (which) {
    case 0: { /* sleep */
        sleep(1);
        break;
    }
    case 1: { /* usleep */
        usleep(1);
        break;
    }
    case 2: { /* nanosleep */
        struct timespec t={0,1};
        nanosleep(&t,NULL);
        break;
    }
    case 3: { /* clock_nanosleep */
        struct timespec t={0,1};
        clock_nanosleep(CLOCK_MONOTONIC,0,&t,NULL);
        break;
    }
    case 4: { /* getpid */
        getpid();
        break;
    }
    case 5: { /* sysconf */
        long n=sysconf(_SC_NPROCESSORS_ONLN);
        assert(n>0);
        break;
    }
    case 6: { /* sysconf_page */
        long n=sysconf(_SC_PAGESIZE);
        assert(n>0);
        break;
    }
    case 7: { /* get_nprocs */
        assert(get_nprocs()>0);
        break;
    }
    case 8: { /* sched_yield */
        sched_yield();
        break;
    }
    case 9: { /* getenv */
        char*e=getenv("X");
        (void)e;
        break;
    }
    case 10: { /* exit */
        exit(0);
        break;
    }
    case 11: { /* _exit */
        _exit(0);
        break;
    }
    case 12: { /* _Exit */
        _Exit(0);
        break;
    }
    case 13: { /* quick_exit */
        quick_exit(0);
        break;
    }
    case 14: { /* atexit */
        atexit(nop);
        exit(0);
        break;
    }
    case 15: { /* on_exit */
        on_exit(nop2,NULL);
        break;
    }
    case 16: { /* abort */
        if(0) abort();
        break;
    }
    case 17: { /* raise */
        if(getenv("X")) raise(SIGTERM);
        break;
    }
    case 18: { /* signal */
        signal(SIGPIPE,SIG_IGN);
        break;
    }
    case 19: { /* signal_handler */
        signal(SIGINT,handler);
        break;
    }
    case 20: { /* sigaction */
        struct sigaction s;
        memset(&s,0,sizeof s);
        s.sa_handler=SIG_IGN;
        sigaction(SIGPIPE,&s,NULL);
        break;
    }
    case 21: { /* sigaction_handler */
        struct sigaction s;
        memset(&s,0,sizeof s);
        s.sa_handler=handler;
        sigemptyset(&s.sa_mask);
        sigaction(SIGINT,&s,NULL);
        break;
    }
    case 22: { /* sigprocmask */
        sigset_t s;
        sigemptyset(&s);
        sigaddset(&s,SIGINT);
        sigprocmask(SIG_BLOCK,&s,NULL);
        break;
    }
    case 23: { /* pthread_sigmask */
        sigset_t s;
        sigfillset(&s);
        pthread_sigmask(SIG_BLOCK,&s,NULL);
        break;
    }
    case 24: { /* pause */
        if(getenv("X")) pause();
        break;
    }
    case 25: { /* alarm */
        alarm(1);
        break;
    }
    }
    return 0;
}
