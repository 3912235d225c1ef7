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
    __VERIFIER_assume(which < 14);
    switch (which) {
    case 0: { /* sync_fetch */
        int a=0;
        __sync_fetch_and_add(&a,5);
        __sync_fetch_and_sub(&a,1);
        __sync_fetch_and_or(&a,8);
        __sync_fetch_and_and(&a,12);
        __sync_fetch_and_xor(&a,1);
        __sync_fetch_and_nand(&a,1);
        assert(a==-2);
        break;
    }
    case 1: { /* sync_and_fetch */
        int a=0;
        assert(__sync_add_and_fetch(&a,5)==5);
        assert(__sync_sub_and_fetch(&a,1)==4);
        assert(__sync_or_and_fetch(&a,8)==12);
        assert(__sync_and_and_fetch(&a,8)==8);
        assert(__sync_xor_and_fetch(&a,1)==9);
        assert(__sync_nand_and_fetch(&a,1)==-2);
        break;
    }
    case 2: { /* sync_cas */
        int a=0;
        assert(__sync_bool_compare_and_swap(&a,0,1));
        assert(__sync_val_compare_and_swap(&a,1,2)==1);
        __sync_synchronize();
        assert(__sync_lock_test_and_set(&a,7)==2);
        __sync_lock_release(&a);
        assert(a==0);
        break;
    }
    case 3: { /* atomic_gcc */
        int a=0,b=1,c;
        __atomic_store_n(&a,1,__ATOMIC_SEQ_CST);
        assert(__atomic_load_n(&a,5)==1);
        __atomic_store(&a,&b,5);
        __atomic_load(&a,&c,5);
        __atomic_exchange(&a,&b,&c,5);
        assert(__atomic_exchange_n(&a,3,5)==1);
        int e=3;
        assert(__atomic_compare_exchange_n(&a,&e,4,0,5,5));
        e=4;
        b=9;
        assert(__atomic_compare_exchange(&a,&e,&b,0,5,5));
        assert(a==9);
        break;
    }
    case 4: { /* atomic_gcc_op */
        int a=0;
        assert(__atomic_add_fetch(&a,5,5)==5);
        assert(__atomic_sub_fetch(&a,1,5)==4);
        assert(__atomic_or_fetch(&a,8,5)==12);
        assert(__atomic_and_fetch(&a,8,5)==8);
        assert(__atomic_xor_fetch(&a,1,5)==9);
        assert(__atomic_nand_fetch(&a,1,5)==-2);
        __atomic_fetch_add(&a,1,5);
        __atomic_fetch_sub(&a,1,5);
        __atomic_fetch_and(&a,1,5);
        __atomic_fetch_xor(&a,1,5);
        __atomic_fetch_or(&a,1,5);
        __atomic_fetch_nand(&a,1,5);
        break;
    }
    case 5: { /* atomic_gcc_flag */
        _Bool f=0;
        assert(!__atomic_test_and_set(&f,5));
        __atomic_clear(&f,5);
        __atomic_thread_fence(5);
        __atomic_signal_fence(5);
        assert(__atomic_always_lock_free(4,0));
        assert(__atomic_is_lock_free(4,0));
        break;
    }
    case 6: { /* atomic_i128 */
        __int128 a=0;
        __atomic_store_n(&a,1,5);
        assert(__atomic_load_n(&a,5)==1);
        break;
    }
    case 7: { /* sync_128 */
        static __int128 a;
        assert(__sync_bool_compare_and_swap(&a,0,1));
        break;
    }
    case 8: { /* errno */
        errno=0;
        close(-1);
        assert(errno==0||errno==EBADF||1);
        break;
    }
    case 9: { /* ctz */
        assert(__builtin_ctz(8)==3&&__builtin_clz(1)==31&&__builtin_popcount(7)==3&&__builtin_ffs(4)==3&&__builtin_bswap32(1)==0x1000000);
        break;
    }
    case 10: { /* expect */
        assert(__builtin_expect(1,1));
        __builtin_prefetch(&stdin);
        break;
    }
    case 11: { /* overflow */
        int r;
        assert(!__builtin_add_overflow(1,2,&r)&&r==3);
        assert(__builtin_mul_overflow(1<<30,4,&r));
        assert(!__builtin_sub_overflow(1,2,&r));
        break;
    }
    case 12: { /* htonl */
        assert(htonl(1)==0x1000000&&ntohs(0x100)==1);
        break;
    }
    case 13: { /* setaffinity */
        cpu_set_t c;
        CPU_ZERO(&c);
        CPU_SET(0,&c);
        pthread_setaffinity_np(pthread_self(),sizeof c,&c);
        assert(CPU_ISSET(0,&c));
        int n=CPU_COUNT(&c);
        (void)n;
        break;
    }
    }
    return 0;
}
