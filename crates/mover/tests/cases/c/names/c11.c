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
static int cthr(void *p) { return 5; }
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
int main(void) {
    unsigned which = __VERIFIER_nondet_uint();
    __VERIFIER_assume(which < 16);
    switch (which) {
    case 0: { /* c11thrd */
        thrd_t t;
        thrd_create(&t,cthr,0);
        int r;
        thrd_join(t,&r);
        assert(r==5);
        assert(thrd_equal(thrd_current(),thrd_current()));
        thrd_yield();
        struct timespec s={0,1};
        thrd_sleep(&s,0);
        break;
    }
    case 1: { /* c11detach */
        thrd_t t;
        thrd_create(&t,cthr,0);
        thrd_detach(t);
        thrd_exit(0);
        break;
    }
    case 2: { /* c11mtx */
        mtx_t m;
        mtx_init(&m,mtx_plain);
        mtx_lock(&m);
        assert(mtx_trylock(&m)==thrd_busy);
        mtx_unlock(&m);
        mtx_destroy(&m);
        break;
    }
    case 3: { /* c11mtxt */
        mtx_t m;
        struct timespec t={1,0};
        mtx_init(&m,mtx_timed|mtx_recursive);
        mtx_lock(&m);
        assert(mtx_timedlock(&m,&t)==thrd_success);
        mtx_unlock(&m);
        mtx_unlock(&m);
        break;
    }
    case 4: { /* c11cnd */
        cnd_t c;
        mtx_t m;
        struct timespec t={1,0};
        cnd_init(&c);
        mtx_init(&m,mtx_plain);
        mtx_lock(&m);
        int r=cnd_timedwait(&c,&m,&t);
        assert(r==thrd_success||r==thrd_timedout);
        mtx_unlock(&m);
        cnd_signal(&c);
        cnd_broadcast(&c);
        cnd_destroy(&c);
        break;
    }
    case 5: { /* c11once */
        static once_flag f=ONCE_FLAG_INIT;
        call_once(&f,nop);
        break;
    }
    case 6: { /* c11tss */
        tss_t k;
        tss_create(&k,NULL);
        tss_set(k,&k);
        assert(tss_get(k)==&k);
        tss_delete(k);
        break;
    }
    case 7: { /* timespec_get */
        struct timespec t;
        assert(timespec_get(&t,TIME_UTC)==TIME_UTC);
        break;
    }
    case 8: { /* atomic_generic */
        atomic_int a;
        atomic_init(&a,1);
        atomic_store(&a,2);
        assert(atomic_load(&a)==2);
        assert(atomic_exchange(&a,3)==2);
        int e=3;
        assert(atomic_compare_exchange_strong(&a,&e,4));
        e=4;
        while(!atomic_compare_exchange_weak(&a,&e,5));
        atomic_fetch_add(&a,1);
        atomic_fetch_sub(&a,1);
        atomic_fetch_or(&a,8);
        atomic_fetch_and(&a,15);
        assert(atomic_fetch_xor(&a,1)==13);
        assert(a==12);
        break;
    }
    case 9: { /* atomic_explicit */
        atomic_int a=0;
        atomic_store_explicit(&a,2,memory_order_release);
        assert(atomic_load_explicit(&a,memory_order_acquire)==2);
        atomic_exchange_explicit(&a,3,memory_order_acq_rel);
        int e=3;
        atomic_compare_exchange_strong_explicit(&a,&e,4,memory_order_acq_rel,memory_order_relaxed);
        atomic_compare_exchange_weak_explicit(&a,&e,4,memory_order_seq_cst,memory_order_consume);
        atomic_fetch_add_explicit(&a,1,memory_order_relaxed);
        atomic_fetch_sub_explicit(&a,1,memory_order_relaxed);
        atomic_fetch_or_explicit(&a,1,memory_order_relaxed);
        atomic_fetch_and_explicit(&a,1,memory_order_relaxed);
        atomic_fetch_xor_explicit(&a,1,memory_order_relaxed);
        break;
    }
    case 10: { /* atomic_flag */
        atomic_flag f=ATOMIC_FLAG_INIT;
        assert(!atomic_flag_test_and_set(&f));
        assert(atomic_flag_test_and_set_explicit(&f,memory_order_acquire));
        atomic_flag_clear(&f);
        atomic_flag_clear_explicit(&f,memory_order_release);
        break;
    }
    case 11: { /* atomic_fence */
        atomic_thread_fence(memory_order_seq_cst);
        atomic_signal_fence(memory_order_seq_cst);
        break;
    }
    case 12: { /* atomic_lockfree */
        atomic_int a=0;
        assert(atomic_is_lock_free(&a));
        int x=kill_dependency(a);
        (void)x;
        break;
    }
    case 13: { /* atomic_types */
        atomic_bool b=0;
        atomic_char c=0;
        atomic_schar d=0;
        atomic_uchar e=0;
        atomic_short f=0;
        atomic_ushort g=0;
        atomic_uint h=0;
        atomic_long i=0;
        atomic_ulong j=0;
        atomic_llong k=0;
        atomic_ullong l=0;
        atomic_wchar_t m=0;
        atomic_size_t n=0;
        atomic_ptrdiff_t o=0;
        atomic_intmax_t p=0;
        atomic_uintptr_t q=0;
        atomic_int_least16_t r=0;
        atomic_uint_fast64_t s=0;
        atomic_char16_t u=0;
        b=1;
        c++;
        d--;
        e+=2;
        f|=1;
        g&=1;
        h^=1;
        i++;
        j++;
        k++;
        l++;
        m++;
        n++;
        o++;
        p++;
        q++;
        r++;
        s++;
        u++;
        assert(b+c+e==4);
        break;
    }
    case 14: { /* atomic_ptr */
        int v[3];
        _Atomic(int*) p=v;
        atomic_fetch_add(&p,1);
        assert(p==v+1);
        break;
    }
    case 15: { /* atomic_double */
        _Atomic double d=1.5;
        d+=1;
        assert(d==2.5);
        break;
    }
    }
    return 0;
}
