// expect: safe
// Hints and fences do nothing where memory is sequentially consistent.
#include <assert.h>
int x;

int main(void) {
    int y = 3;
    __asm__ volatile("" ::: "memory");
    __asm__ volatile("pause" ::: "memory");
    __asm__ volatile("rep; nop" ::: "memory");
    __asm__ __volatile__("rep;nop\n nop");
    __asm__ volatile("mfence" ::: "memory");
    __asm__ volatile("lfence; sfence" ::: "memory");
    __asm__ volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");
    __asm__ volatile("" : "+r"(y) : : "memory");
    __builtin_ia32_pause();
    __builtin_ia32_mfence();
    x = y;
    assert(x == 3);
    return 0;
}
