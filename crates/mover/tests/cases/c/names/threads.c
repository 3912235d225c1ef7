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
static void *thr(void *p) { return p; }
static void *spin(void *p) { for (;;) pthread_testcancel(); }
static void setone(void *p) { *(int *)p = 1; }
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
int main(void) {
    unsigned which = __VERIFIER_nondet_uint();
    __VERIFIER_assume(which < 8);
    switch (which) {
    case 0: { /* pthread_cancel */
        pthread_t t;
        pthread_create(&t,0,spin,0);
        pthread_cancel(t);
        void*r;
        pthread_join(t,&r);
        assert(r==PTHREAD_CANCELED);
        break;
    }
    case 1: { /* pthread_setcancelstate */
        int o;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE,&o);
        assert(o==PTHREAD_CANCEL_ENABLE);
        break;
    }
    case 2: { /* pthread_setcanceltype */
        int o;
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED,&o);
        assert(o==PTHREAD_CANCEL_DEFERRED);
        break;
    }
    case 3: { /* pthread_testcancel */
        pthread_testcancel();
        break;
    }
    case 4: { /* pthread_cleanup */
        int x=0;
        pthread_cleanup_push(setone,&x);
        pthread_cleanup_pop(1);
        assert(x==1);
        break;
    }
    case 5: { /* pthread_tryjoin_np */
        pthread_t t;
        pthread_create(&t,0,thr,0);
        int r=pthread_tryjoin_np(t,0);
        assert(r==0||r==EBUSY);
        if(r) pthread_join(t,0);
        break;
    }
    case 6: { /* pthread_timedjoin_np */
        pthread_t t;
        struct timespec s={0,0};
        pthread_create(&t,0,thr,0);
        int r=pthread_timedjoin_np(t,0,&s);
        assert(r==0||r==ETIMEDOUT||r==EBUSY);
        if(r) pthread_join(t,0);
        break;
    }
    case 7: { /* pthread_clockjoin_np */
        pthread_t t;
        struct timespec s={0,0};
        pthread_create(&t,0,thr,0);
        int r=pthread_clockjoin_np(t,0,CLOCK_MONOTONIC,&s);
        assert(r==0||r==ETIMEDOUT);
        if(r) pthread_join(t,0);
        break;
    }
    }
    return 0;
}
