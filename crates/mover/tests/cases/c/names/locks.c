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
static void *thr(void *p) { return p; }
static void *spin(void *p) { for (;;) pthread_testcancel(); }
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
int main(void) {
    unsigned which = __VERIFIER_nondet_uint();
    __VERIFIER_assume(which < 13);
    switch (which) {
    case 0: { /* mutexattr */
        pthread_mutexattr_t a;
        pthread_mutex_t m;
        int k;
        pthread_mutexattr_init(&a);
        pthread_mutexattr_settype(&a,PTHREAD_MUTEX_RECURSIVE);
        pthread_mutexattr_gettype(&a,&k);
        assert(k==PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&m,&a);
        pthread_mutexattr_destroy(&a);
        pthread_mutex_lock(&m);
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        pthread_mutex_unlock(&m);
        pthread_mutex_destroy(&m);
        break;
    }
    case 1: { /* condattr */
        pthread_condattr_t a;
        clockid_t c;
        int k;
        pthread_condattr_init(&a);
        pthread_condattr_setclock(&a,CLOCK_MONOTONIC);
        pthread_condattr_getclock(&a,&c);
        assert(c==CLOCK_MONOTONIC);
        pthread_condattr_setpshared(&a,0);
        pthread_condattr_getpshared(&a,&k);
        pthread_cond_t v;
        pthread_cond_init(&v,&a);
        pthread_condattr_destroy(&a);
        pthread_cond_signal(&v);
        pthread_cond_broadcast(&v);
        pthread_cond_destroy(&v);
        break;
    }
    case 2: { /* rwlockattr */
        pthread_rwlockattr_t a;
        int k;
        pthread_rwlockattr_init(&a);
        pthread_rwlockattr_setkind_np(&a,PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlockattr_getkind_np(&a,&k);
        assert(k==PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlockattr_setpshared(&a,0);
        pthread_rwlockattr_getpshared(&a,&k);
        pthread_rwlock_t l;
        pthread_rwlock_init(&l,&a);
        pthread_rwlockattr_destroy(&a);
        pthread_rwlock_rdlock(&l);
        pthread_rwlock_unlock(&l);
        pthread_rwlock_wrlock(&l);
        pthread_rwlock_unlock(&l);
        pthread_rwlock_destroy(&l);
        break;
    }
    case 3: { /* rwlock_try */
        pthread_rwlock_t l=PTHREAD_RWLOCK_INITIALIZER;
        struct timespec t={1,0};
        assert(!pthread_rwlock_tryrdlock(&l));
        assert(pthread_rwlock_trywrlock(&l)==EBUSY);
        assert(!pthread_rwlock_timedrdlock(&l,&t));
        assert(pthread_rwlock_timedwrlock(&l,&t));
        pthread_rwlock_unlock(&l);
        pthread_rwlock_unlock(&l);
        break;
    }
    case 4: { /* barrier */
        pthread_barrier_t b;
        pthread_barrierattr_t a;
        pthread_barrierattr_init(&a);
        pthread_barrierattr_setpshared(&a,0);
        int k;
        pthread_barrierattr_getpshared(&a,&k);
        pthread_barrier_init(&b,&a,1);
        assert(pthread_barrier_wait(&b)==PTHREAD_BARRIER_SERIAL_THREAD);
        pthread_barrier_destroy(&b);
        pthread_barrierattr_destroy(&a);
        break;
    }
    case 5: { /* spin */
        pthread_spinlock_t l;
        pthread_spin_init(&l,0);
        pthread_spin_lock(&l);
        assert(pthread_spin_trylock(&l)==EBUSY);
        pthread_spin_unlock(&l);
        pthread_spin_destroy(&l);
        break;
    }
    case 6: { /* mutex_timedlock */
        pthread_mutex_t m=PTHREAD_MUTEX_INITIALIZER;
        struct timespec t={1,0};
        assert(!pthread_mutex_timedlock(&m,&t));
        assert(pthread_mutex_trylock(&m)==EBUSY);
        assert(pthread_mutex_timedlock(&m,&t)==ETIMEDOUT);
        pthread_mutex_unlock(&m);
        assert(!pthread_mutex_clocklock(&m,CLOCK_MONOTONIC,&t));
        pthread_mutex_unlock(&m);
        break;
    }
    case 7: { /* cond_timedwait */
        pthread_mutex_t m=PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t c=PTHREAD_COND_INITIALIZER;
        struct timespec t={1,0};
        pthread_mutex_lock(&m);
        int r=pthread_cond_timedwait(&c,&m,&t);
        assert(r==0||r==ETIMEDOUT);
        r=pthread_cond_clockwait(&c,&m,CLOCK_MONOTONIC,&t);
        assert(r==0||r==ETIMEDOUT);
        pthread_mutex_unlock(&m);
        break;
    }
    case 8: { /* sem */
        sem_t s;
        int v;
        struct timespec t={1,0};
        sem_init(&s,0,1);
        sem_wait(&s);
        assert(sem_trywait(&s)==-1&&errno==EAGAIN);
        sem_post(&s);
        sem_getvalue(&s,&v);
        assert(v==1);
        sem_wait(&s);
        assert(sem_timedwait(&s,&t)==-1);
        sem_destroy(&s);
        break;
    }
    case 9: { /* once */
        static pthread_once_t o=PTHREAD_ONCE_INIT;
        pthread_once(&o,nop);
        break;
    }
    case 10: { /* key */
        pthread_key_t k;
        pthread_key_create(&k,NULL);
        pthread_setspecific(k,&k);
        assert(pthread_getspecific(k)==&k);
        pthread_key_delete(k);
        break;
    }
    case 11: { /* self */
        assert(pthread_equal(pthread_self(),pthread_self()));
        break;
    }
    case 12: { /* detach */
        pthread_t t;
        pthread_create(&t,0,thr,0);
        pthread_detach(t);
        pthread_exit(0);
        break;
    }
    }
    return 0;
}
