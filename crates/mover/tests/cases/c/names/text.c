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
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int cmpr(const void *a, const void *b, void *c) { return *(const int *)a - *(const int *)b; }
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
int main(void) {
    unsigned which = __VERIFIER_nondet_uint();
    __VERIFIER_assume(which < 59);
    switch (which) {
    case 0: { /* isalnum */
        assert(isalnum('a'));
        break;
    }
    case 1: { /* isalpha */
        assert(isalpha('a'));
        break;
    }
    case 2: { /* isblank */
        assert(isblank(' '));
        break;
    }
    case 3: { /* iscntrl */
        assert(iscntrl(7));
        break;
    }
    case 4: { /* isdigit */
        assert(isdigit('5'));
        break;
    }
    case 5: { /* isgraph */
        assert(isgraph('a'));
        break;
    }
    case 6: { /* islower */
        assert(islower('a'));
        break;
    }
    case 7: { /* isprint */
        assert(isprint('a'));
        break;
    }
    case 8: { /* ispunct */
        assert(ispunct('.'));
        break;
    }
    case 9: { /* isspace */
        assert(isspace(' '));
        break;
    }
    case 10: { /* isupper */
        assert(isupper('A'));
        break;
    }
    case 11: { /* isxdigit */
        assert(isxdigit('F'));
        break;
    }
    case 12: { /* isascii */
        assert(isascii('F'));
        break;
    }
    case 13: { /* toupper */
        assert(toupper('a')=='A');
        break;
    }
    case 14: { /* tolower */
        assert(tolower('A')=='a');
        break;
    }
    case 15: { /* toascii */
        assert(toascii('A')=='A');
        break;
    }
    case 16: { /* qsort */
        int v[3]={3,1,2};
        qsort(v,3,4,cmp);
        assert(v[0]==1&&v[2]==3);
        break;
    }
    case 17: { /* qsort_r */
        int v[3]={3,1,2};
        qsort_r(v,3,4,cmpr,0);
        assert(v[0]==1&&v[2]==3);
        break;
    }
    case 18: { /* bsearch */
        int v[3]={1,2,3},k=2;
        assert(bsearch(&k,v,3,4,cmp)==v+1);
        break;
    }
    case 19: { /* lsearch */
        int v[3]={1,2,3},k=2;
        size_t n=3;
        assert(lfind(&k,v,&n,4,cmp)==v+1);
        break;
    }
    case 20: { /* memmem */
        assert(memmem("abc",3,"bc",2));
        break;
    }
    case 21: { /* memcpy */
        char b[4];
        memcpy(b,"abc",4);
        assert(b[2]=='c');
        break;
    }
    case 22: { /* memmove */
        char b[4]="abc";
        memmove(b+1,b,2);
        assert(b[2]=='b');
        break;
    }
    case 23: { /* memset */
        char b[4];
        memset(b,1,4);
        assert(b[2]==1);
        break;
    }
    case 24: { /* memchr */
        assert(memchr("abc",'c',3));
        break;
    }
    case 25: { /* memrchr */
        assert(memrchr("abc",'c',3));
        break;
    }
    case 26: { /* memcmp */
        assert(memcmp("a","b",1)<0);
        break;
    }
    case 27: { /* memccpy */
        char b[4];
        assert(memccpy(b,"abc",'b',4)==b+2);
        break;
    }
    case 28: { /* mempcpy */
        char b[4];
        assert(mempcpy(b,"abc",4)==b+4);
        break;
    }
    case 29: { /* strcpy */
        char b[4];
        strcpy(b,"abc");
        assert(b[2]=='c');
        break;
    }
    case 30: { /* strncpy */
        char b[4];
        strncpy(b,"abc",4);
        assert(b[2]=='c');
        break;
    }
    case 31: { /* strcat */
        char b[8]="a";
        strcat(b,"bc");
        assert(b[2]=='c');
        break;
    }
    case 32: { /* strncat */
        char b[8]="a";
        strncat(b,"bc",1);
        assert(b[2]==0);
        break;
    }
    case 33: { /* strcmp */
        assert(strcmp("a","b")<0);
        break;
    }
    case 34: { /* strncmp */
        assert(strncmp("a","b",1)<0);
        break;
    }
    case 35: { /* strcoll */
        assert(strcoll("a","b")<0);
        break;
    }
    case 36: { /* strxfrm */
        char b[8];
        assert(strxfrm(b,"ab",8)==2);
        break;
    }
    case 37: { /* strchr */
        assert(strchr("ab",'b'));
        break;
    }
    case 38: { /* strrchr */
        assert(strrchr("ab",'b'));
        break;
    }
    case 39: { /* strspn */
        assert(strspn("aab","a")==2);
        break;
    }
    case 40: { /* strcspn */
        assert(strcspn("aab","b")==2);
        break;
    }
    case 41: { /* strpbrk */
        assert(strpbrk("aab","b"));
        break;
    }
    case 42: { /* strstr */
        assert(strstr("aab","ab"));
        break;
    }
    case 43: { /* strtok */
        char b[]="a b";
        assert(strtok(b," ")==b);
        assert(*strtok(0," ")=='b');
        break;
    }
    case 44: { /* strtok_r */
        char b[]="a b",*s;
        assert(strtok_r(b," ",&s)==b);
        break;
    }
    case 45: { /* strlen */
        assert(strlen("abc")==3);
        break;
    }
    case 46: { /* strnlen */
        assert(strnlen("abc",2)==2);
        break;
    }
    case 47: { /* strdup */
        char*p=strdup("ab");
        assert(p[1]=='b');
        free(p);
        break;
    }
    case 48: { /* strndup */
        char*p=strndup("ab",1);
        assert(p[1]==0);
        free(p);
        break;
    }
    case 49: { /* strsep */
        char b[]="a b",*s=b;
        assert(strsep(&s," ")==b);
        break;
    }
    case 50: { /* strcasecmp */
        assert(!strcasecmp("A","a"));
        break;
    }
    case 51: { /* strncasecmp */
        assert(!strncasecmp("A","a",1));
        break;
    }
    case 52: { /* strsignal */
        assert(strsignal(SIGINT));
        break;
    }
    case 53: { /* explicit_bzero */
        char b[4];
        explicit_bzero(b,4);
        assert(b[1]==0);
        break;
    }
    case 54: { /* bzero */
        char b[4];
        bzero(b,4);
        assert(b[1]==0);
        break;
    }
    case 55: { /* bcopy */
        char b[4];
        bcopy("abc",b,4);
        assert(b[1]=='b');
        break;
    }
    case 56: { /* bcmp */
        assert(!bcmp("a","a",1));
        break;
    }
    case 57: { /* index */
        assert(index("ab",'b'));
        break;
    }
    case 58: { /* strlcpy */
        char b[4];
        assert(stpcpy(b,"abc")==b+3);
        break;
    }
    }
    return 0;
}
