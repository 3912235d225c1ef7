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
    __VERIFIER_assume(which < 26);
    switch (which) {
    case 0: { /* fputs */
        fputs("x",stdout);
        break;
    }
    case 1: { /* puts */
        puts("x");
        break;
    }
    case 2: { /* putchar */
        putchar('x');
        break;
    }
    case 3: { /* putc */
        putc('x',stderr);
        break;
    }
    case 4: { /* fputc */
        fputc('x',stderr);
        break;
    }
    case 5: { /* fflush */
        fflush(stdout);
        fflush(NULL);
        break;
    }
    case 6: { /* perror */
        perror("x");
        break;
    }
    case 7: { /* getchar */
        int c=getchar();
        assert(c==-1||(c>=0&&c<256));
        break;
    }
    case 8: { /* getc */
        int c=getc(stdin);
        assert(c==-1||(c>=0&&c<256));
        break;
    }
    case 9: { /* fgetc */
        int c=fgetc(stdin);
        assert(c==-1||(c>=0&&c<256));
        break;
    }
    case 10: { /* fgets */
        char b[4];
        if(fgets(b,4,stdin)) assert(b[3]==0||strlen(b)<=3);
        break;
    }
    case 11: { /* ungetc */
        ungetc('x',stdin);
        break;
    }
    case 12: { /* feof */
        int r=feof(stdin);
        (void)r;
        break;
    }
    case 13: { /* ferror */
        int r=ferror(stdin);
        (void)r;
        break;
    }
    case 14: { /* clearerr */
        clearerr(stdin);
        break;
    }
    case 15: { /* fopen */
        FILE*f=fopen("x","r");
        if(f) fclose(f);
        break;
    }
    case 16: { /* fread */
        char b[2];
        size_t n=fread(b,1,2,stdin);
        assert(n<=2);
        break;
    }
    case 17: { /* fwrite */
        char b[2]={0};
        size_t n=fwrite(b,1,2,stdout);
        assert(n<=2);
        break;
    }
    case 18: { /* setbuf */
        setbuf(stdout,NULL);
        break;
    }
    case 19: { /* setvbuf */
        setvbuf(stdout,NULL,_IONBF,0);
        break;
    }
    case 20: { /* remove */
        int r=remove("x");
        (void)r;
        break;
    }
    case 21: { /* rename */
        int r=rename("x","y");
        (void)r;
        break;
    }
    case 22: { /* tmpfile */
        FILE*f=tmpfile();
        if(f) fclose(f);
        break;
    }
    case 23: { /* fseek */
        if(fseek(stdin,0,SEEK_SET)) {};
        break;
    }
    case 24: { /* ftell */
        long l=ftell(stdin);
        (void)l;
        break;
    }
    case 25: { /* rewind */
        rewind(stdin);
        break;
    }
    }
    return 0;
}
